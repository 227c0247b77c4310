"""Who calls the kernels that Python files hold as strings: through an object that is made from a kernel's name.

`k = RawKernel(SOURCE, "walk")` and then `k(...)`, `module.get_function("walk")`, `functions=["walk"]` and then
`module.walk(...)`: whoever names a function where it is made, uses what was made, or calls an attribute of its name.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from recon.index.edge import Add, Edge
from recon.index.names import Names
from recon.index.records import Bind, Call, Import, ScopeKind
from recon.index.strings import MARK, file_of
from recon.index.tables import Ref, Table
from recon.index.values import Kind
from recon.records.path import Tier

_ROLES = frozenset({"argument", "value", "key"})
_MOST_LINES = 64
"""Of a statement that makes something of a kernel's name."""
_MOST_MADE = 64
"""Names that are given a value in one line."""
_MOST_USES = 20_000
"""Of all kernels in the strings of one file: files are written by strangers."""


class _Site(NamedTuple):
    """A call in a function."""

    table: Table
    call: Call


def join_strings(names: Names, add: Add) -> None:
    """Add an edge from each use of a kernel in a string to the kernel."""
    inside = [table for table in names.tables.values() if table.path.endswith(MARK)]
    importing = _importing(names) if inside else {}
    for table in inside:
        uses = _Uses(names, names.tables[file_of(table.path)], importing)
        found = (
            Edge(ref, table.refs[row.id], line, "launch" if "__global__" in row.decorators else "operator", Tier.LIKELY)
            for row in table.scopes
            if row.kind is ScopeKind.FUNCTION
            for ref, line in uses.of(row.name.rpartition("::")[2])
        )
        for edge in islice(found, _MOST_USES):
            add(edge)


def _importing(names: Names) -> dict[str, list[tuple[Table, Import]]]:
    """Imports by the last name of the module, and by what they take of it, which may be a module."""
    found: dict[str, list[tuple[Table, Import]]] = {}
    for table in names.tables.values():
        for item in table.outline.imports:
            for name in {item.module.rpartition(".")[2], item.name}:
                found.setdefault(name, []).append((table, item))
    return found


class _Uses:
    """Where the functions in the strings of one file are named, made and called."""

    def __init__(self, names: Names, home: Table, importing: dict[str, list[tuple[Table, Import]]]) -> None:
        self._names = names
        self._home = home
        self._lines: dict[str, dict[int, int]] = {}
        """By what a string says: the lines that say it, each with its scope."""
        for text in home.outline.texts:
            if text.role in _ROLES:
                self._lines.setdefault(text.text, {}).setdefault(text.line, text.scope)
        self._made: dict[int, list[Bind]] = {}
        """By line: what is given a value there."""
        self._made_by: dict[str, list[Bind]] = {}
        """By the call whose result it is."""
        for bind in home.outline.binds:
            self._made_by.setdefault(bind.value, []).append(bind)
            for line in range(bind.line, min(bind.since or bind.line, bind.line + _MOST_LINES) + 1):
                here = self._made.setdefault(line, [])
                if len(here) < _MOST_MADE:
                    here.append(bind)
        self._held: dict[str, list[_Site]] = {}
        """Calls by what the file itself names what is called."""
        self._last: dict[str, list[_Site]] = {}
        """Calls of attributes, by the last name."""
        self._read(home, {})
        own = home.module.rpartition(".")[2]
        taken: dict[str, dict[str, str]] = {}
        for table, item in importing.get(own, ()):
            if table is not home:
                called = item.name if item.module.rpartition(".")[2] == own else ""
                taken.setdefault(table.path, {})[item.alias] = called
        for path, aliases in taken.items():
            self._read(names.tables[path], aliases)

    def of(self, name: str) -> Iterator[tuple[Ref, int]]:
        """Definitions that use a function, and the line."""
        lines = self._lines.get(name, {})
        made = [bind for line in lines for bind in self._made.get(line, ())]
        makers = dict[str, None]()
        for line, scope in lines.items():
            if scope:
                makers[f"{self._home.scopes[scope].name}()"] = None
                yield self._home.refs[scope], line
        made += (bind for maker in makers for bind in self._made_by.get(maker, ()))
        held = {bind.target: bind for bind in made if bind.value}
        for bind in held.values():
            yield from (self._place(site) for site in self._held.get(bind.target, ()) if self._is_held(site, bind))
        yield from (self._place(site) for site in self._last.get(name, ()) if self._is_outside(site))

    def _read(self, table: Table, taken: dict[str, str]) -> None:
        """Keep the calls of the file itself, or of one that imports from it under these names."""
        for call in table.outline.calls:
            callee = call.callee.replace("[]", "")
            first, _, rest = callee.partition(".")
            if not call.scope or (table is not self._home and first.partition("(")[0] not in taken):
                continue
            held = callee if table is self._home else taken.get(first, "") or rest
            self._held.setdefault(held, []).append(_Site(table, call))
            if rest:
                self._last.setdefault(callee.rpartition(".")[2], []).append(_Site(table, call))

    def _place(self, site: _Site) -> tuple[Ref, int]:
        return site.table.refs[site.call.scope], site.call.line

    def _is_held(self, site: _Site, bind: Bind) -> bool:
        """Whether what is called is what was made: a name of the module, or an attribute of an object."""
        if site.table is not self._home:
            return not bind.scope
        first, _, rest = bind.target.partition(".")
        return bool(rest) or (not bind.scope and self._home.home(site.call.scope, first) == 0)

    def _is_outside(self, site: _Site) -> bool:
        """Whether a call takes an attribute from something that the tree does not define."""
        base = site.call.callee.replace("[]", "").rpartition(".")[0]
        values = self._names.values(site.table.path, site.call.scope, base, site.call.line)
        return all(value.kind is Kind.OUTSIDE for value in values)
