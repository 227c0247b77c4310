"""Operators: which function of the tree runs for `torch.ops.ns.name`."""

from collections.abc import Iterator

from recon.index.names import Names
from recon.index.records import Call, ScopeKind
from recon.index.tables import Ref, Table, is_python

_FAKES = frozenset({"fake_impl", "meta", "fake", "abstract_impl"})
_EXPORTS = frozenset({"TVM_FFI_DLL_EXPORT_TYPED_FUNC", "TVM_FFI_DLL_EXPORT_FUNC"})
_PREFIX = "torch.ops."


class Operators:
    """Functions by the operator that they were registered as, in Python and in C++."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._python: dict[str, dict[Ref, None]] = {}
        self._compiled: dict[str, dict[Ref, None]] = {}
        self._compiled_functions = _functions_by_name(names)
        for table in names.tables.values():
            if is_python(table.path):
                self._read_python(table)
            else:
                self._read_compiled(table)

    def of(self, dotted: str) -> tuple[Ref, ...]:
        """Functions behind `torch.ops.ns.name`, those in Python before those in C++; () for any other name."""
        if not dotted.startswith(_PREFIX):
            return ()
        parts = dotted[len(_PREFIX) :].split(".")
        if len(parts) < 2:
            return ()
        name = parts[1]
        found = dict(self._python.get(name, {}))
        found.update(self._compiled.get(name, {}))
        return tuple(found) or self.compiled(name)

    def compiled(self, name: str) -> tuple[Ref, ...]:
        """Functions of C++ or CUDA sources that a name exports, or that have it."""
        return tuple(self._compiled.get(name, ())) or tuple(self._compiled_functions.get(name, ()))

    def _read_python(self, table: Table) -> None:
        for call in table.outline.calls:
            last = call.callee.rpartition(".")[2]
            if "custom_op" in last or last in {"impl", "triton_op", "register_kernel"}:
                for name, ref in self._registered(table, call, last):
                    self._python.setdefault(name, {})[ref] = None
        for row in table.scopes:  # decorators without arguments are no calls
            if any("custom_op" in word.rpartition(".")[2] for word in row.decorators):
                self._python.setdefault(row.name, {})[Ref(table.path, row.id)] = None

    def _registered(self, table: Table, call: Call, last: str) -> Iterator[tuple[str, Ref]]:
        """The operator name and the function of one registration."""
        keywords = dict(zip(call.keywords, call.args[call.positional :], strict=True))
        literals = [arg for arg in call.args[: call.positional] if arg[:1] in {"'", '"'}]
        name = keywords.get("op_name", literals[0] if literals else "").strip("'\"")
        functions = [ref for ref in (_decorated(table, call),) if ref is not None]
        if not functions:
            given = [keywords["op_func"]] if "op_func" in keywords else call.args[: call.positional]
            functions = [ref for arg in given for ref in self._functions(table, call, arg)]
        if last == "impl" and not name:
            return
        for ref in functions:
            bare = name.rpartition("::")[2].partition(".")[0]
            if not name.startswith("aten::"):
                yield bare or self._names.scope_of(ref).name, ref

    def _functions(self, table: Table, call: Call, text: str) -> Iterator[Ref]:
        if text[:1].isalpha() or text[:1] == "_":
            for ref in self._names.resolve(table.path, call.scope, text):
                if self._names.scope_of(ref).kind is ScopeKind.FUNCTION:
                    yield ref

    def _read_compiled(self, table: Table) -> None:
        for call in table.outline.calls:
            last = call.callee.rpartition(".")[2]
            name = ""
            if last in {"impl", "def"} and len(call.args) > 1 and call.args[0][:1] == '"':
                name = call.args[0].strip('"').partition("(")[0]
            elif last in _EXPORTS and len(call.args) > 1:
                name = call.args[0]
            if name:
                function = call.args[-1].rpartition("::")[2]
                for ref in self._compiled_functions.get(function, ()):
                    self._compiled.setdefault(name.rpartition("::")[2], {})[ref] = None


def _decorated(table: Table, call: Call) -> Ref | None:
    """The function that a call decorates."""
    for row in table.scopes:
        if row.parent == call.scope and row.first_line <= call.line <= row.line and call.callee in row.decorators:
            return Ref(table.path, row.id)
    return None


def _functions_by_name(names: Names) -> dict[str, list[Ref]]:
    """Functions of C++ and CUDA sources outside of classes, by the last part of their name."""
    found: dict[str, list[Ref]] = {}
    for table in names.tables.values():
        if not is_python(table.path):
            for row in table.scopes:
                if row.kind is ScopeKind.FUNCTION and table.scopes[row.parent].kind is ScopeKind.MODULE:
                    found.setdefault(row.name.rpartition("::")[2], []).append(Ref(table.path, row.id))
    return found
