"""Who calls whom in the CUDA and C++ of a source tree: by name, since nothing compiles here."""

from recon.index.edge import Add, Edge
from recon.index.names import Names
from recon.index.records import Bind, Call, ScopeKind
from recon.index.tables import Ref, Table, is_python
from recon.index.values import weaker
from recon.records.path import Tier

_MOST_GUESSES = 8
_MOST_ALIASES = 4


class CudaEdges:
    """Turns the calls of all CUDA and C++ files into edges."""

    def __init__(self, names: Names, add: Add) -> None:
        self._names = names
        self._add = add
        self._here: dict[tuple[str, str], list[Ref]] = {}
        self._anywhere: dict[str, list[Ref]] = {}
        for table in names.tables.values():
            if not is_python(table.path):
                for row in table.scopes:
                    if row.kind is ScopeKind.FUNCTION:
                        name = row.name.rpartition("::")[2]
                        ref = table.refs[row.id]
                        self._here.setdefault((table.path, name), []).append(ref)
                        self._anywhere.setdefault(name, []).append(ref)

    def build(self) -> None:
        """Add all edges."""
        for table in self._names.tables.values():
            if not is_python(table.path):
                for call in table.outline.calls:
                    self._read(table, call)

    def _read(self, table: Table, call: Call) -> None:
        is_launch = call.callee.endswith("[]")
        callee = call.callee.removesuffix("[]")
        for target, tier in self._targets(table, call.scope, callee):
            dispatch = "launch" if is_launch else "method" if "." in callee else "call"
            self._edge(table, call, target, dispatch, tier)
        for arg in call.args:
            if arg.rpartition("::")[2] in self._anywhere:
                for target, tier in self._targets(table, call.scope, arg):
                    self._handed_on(table, call, target, tier)

    def _handed_on(self, table: Table, call: Call, target: Ref, tier: Tier) -> None:
        """A function given as an argument is likely called, a kernel launched; a namesake elsewhere is nothing."""
        is_kernel = "__global__" in self._names.scope_of(target).decorators
        if is_kernel or target.path == table.path:
            self._edge(table, call, target, "launch" if is_kernel else "call", weaker(tier, Tier.LIKELY))

    def _targets(self, table: Table, scope: int, name: str, aliases: int = 0) -> list[tuple[Ref, Tier]]:
        """Functions that a name can mean: of the same file before those of any other."""
        for entry in table.entries[scope].get(name, ()) if aliases < _MOST_ALIASES else ():
            if isinstance(entry, Bind) and entry.value and not entry.value.endswith(")"):
                return self._targets(table, scope, entry.value, aliases + 1)
        is_member = "." in name
        most = 1 if is_member else _MOST_GUESSES
        last = name.rpartition("::")[2].rpartition(".")[2]
        found = self._here.get((table.path, last))
        if found and (not is_member or len(found) == 1):
            tier = Tier.LIKELY if len(found) > 1 or is_member else Tier.CERTAIN
        else:
            found = self._anywhere.get(last, [])
            tier = Tier.LIKELY if len(found) == 1 and not is_member else Tier.GUESS
        return [(ref, tier) for ref in found] if len(found) <= most else []

    def _edge(self, table: Table, call: Call, target: Ref, dispatch: str, tier: Tier) -> None:
        source = table.refs[call.scope]
        if source != target or tier is Tier.CERTAIN:
            self._add(Edge(source, target, call.line, dispatch, tier))
