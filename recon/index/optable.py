"""The table of operators: call sites, wrappers, registrations, schemas and symbols of one tree, joined by name."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple

from recon.index.built import Built, BuiltCall
from recon.index.names import Names
from recon.index.operators import PREFIX
from recon.index.registrations import Compiled, Registration, functions_by_name, registrations
from recon.index.spell import words
from recon.index.strings import file_of
from recon.index.tables import Ref, Table, is_python
from recon.index.values import Kind
from recon.records.operator import Operator, OperatorStatus, Site
from recon.records.source import Library

_OF_TORCH = words(
    "aten prims prim higher_order symm_mem c10d _c10d_functional _c10d_functional_autograd quantized torchvision "
    "profiler inductor rngprims debugprims mkldnn fsdp"
)
"""Namespaces that PyTorch fills."""
_LOADING = words("load_library loaded_libraries import_module")
_TENSORS = ("N2at6Tensor", "N5torch6stable6Tensor", "N3tvm3ffi10TensorView")
_LANGUAGES = words("at c10 torch std tvm caffe2 pybind11")
"""Namespaces of C++ whose functions come with PyTorch, whatever library holds a copy."""
_LENGTH = re.compile(r"\d{1,4}")


class Caller(NamedTuple):
    """A definition that calls an operator, and how."""

    ref: Ref
    line: int
    args: tuple[str, ...]


class Row(NamedTuple):
    """An operator with the definitions behind its places, for questions to the graph."""

    operator: Operator
    callers: tuple[Caller, ...]
    functions: tuple[Ref, ...]
    """What runs, where the tree holds its source."""


@dataclass(eq=False)
class _Entry:
    """What is known of one operator while it is joined."""

    namespace: str
    name: str
    callers: dict[Ref, Caller] = field(default_factory=dict)
    registered: list[Registration] = field(default_factory=list)
    schema: str = ""
    libraries: dict[str, None] = field(default_factory=dict)
    is_exported: bool = False

    @property
    def defining(self) -> list[Registration]:
        """What registers more than the shapes of its results."""
        return [each for each in self.registered if not each.is_fake]


class _Entries(dict[tuple[str, str], _Entry]):
    """Entries by namespace and name."""

    def of(self, namespace: str, name: str) -> _Entry:
        """The entry of an operator, made where there is none."""
        return self.setdefault((namespace, name), _Entry(namespace, name))

    def by_name(self) -> dict[str, list[_Entry]]:
        """Entries by name alone."""
        found: dict[str, list[_Entry]] = {}
        for entry in self.values():
            found.setdefault(entry.name, []).append(entry)
        return found


def table_of(
    names: Names, libraries: Sequence[Library], *, is_blind: bool, has_callers: Callable[[Ref], bool]
) -> tuple[Row, ...]:
    """Every operator that a tree calls, registers, or holds the schema or symbol of.

    Args:
        names: The definitions of the tree.
        libraries: What was read of its compiled libraries.
        is_blind: Whether libraries were left unread.
        has_callers: Whether anything of the tree calls a definition.

    Returns:
        Rows sorted by namespace and name.
    """
    entries = _Entries()
    compiled = functions_by_name(names)
    _join_calls(names, entries)
    _join_registrations(names, compiled, entries)
    _join_schemas(entries, libraries)
    own = _own(names, libraries, entries)
    _join_built(names, compiled, entries)
    _join_symbols(entries, libraries)

    def status_of(entry: _Entry, wrappers: Sequence[Caller]) -> OperatorStatus:
        if entry.schema or entry.defining:
            return OperatorStatus.CALLABLE if entry.callers else OperatorStatus.NOT_CALLED
        if not entry.callers:
            return OperatorStatus.SYMBOL_ALONE if entry.is_exported else OperatorStatus.NOT_CALLED
        if entry.namespace not in own:
            return OperatorStatus.ELSEWHERE
        if is_blind or entry.is_exported:
            return OperatorStatus.CANNOT_TELL
        alone = len(wrappers) == len(entry.callers) and not any(has_callers(each.ref) for each in wrappers)
        return OperatorStatus.WRAPPER_ALONE if alone else OperatorStatus.MISSING

    rows = []
    for key in sorted(entries):
        entry = entries[key]
        wrappers = [each for each in entry.callers.values() if _hands_on(names, each)]
        rows.append(_row(names, entry, wrappers, status_of(entry, wrappers)))
    return tuple(rows)


def _row(names: Names, entry: _Entry, wrappers: Iterable[Caller], status: OperatorStatus) -> Row:
    def site(ref: Ref, line: int) -> Site:
        return Site(file_of(ref.path), names.qualname(ref) or "<module>", line)

    fakes = [each.function for each in entry.registered if each.is_fake and each.function is not None]
    functions = dict.fromkeys(each.function for each in entry.defining if each.function is not None)
    operator = Operator(
        namespace=entry.namespace,
        name=entry.name,
        status=status,
        schema=entry.schema,
        calls=tuple(site(each.ref, each.line) for each in entry.callers.values()),
        wrappers=tuple(site(each.ref, names.scope_of(each.ref).line) for each in wrappers),
        fakes=tuple(site(ref, names.scope_of(ref).line) for ref in fakes),
        registrations=tuple(dict.fromkeys(site(each.home, each.line) for each in entry.defining)),
        libraries=tuple(sorted(entry.libraries)),
    )
    return Row(operator, tuple(entry.callers.values()), tuple(functions))


def _hands_on(names: Names, caller: Caller) -> bool:
    """Whether a function hands its own parameters on: most of what it gives the operator it was given."""
    own = {param.name.lstrip("*") for param in names.scope_of(caller.ref).params}
    given = [arg for arg in caller.args if arg]
    return bool(given) and 2 * sum(arg.partition(".")[0] in own for arg in given) > len(given)


# Joining --------------------------------------------------------------------------------------------------------------


def _join_calls(names: Names, entries: _Entries) -> None:
    """Operators that are called, or taken to be called later."""
    for table in names.tables.values():
        if not is_python(table.path):
            continue
        aliases = _aliases(table)
        calls = [call for call in table.outline.calls if _may_mean_one(call.callee, aliases)]
        binds = [bind for bind in table.outline.binds if _may_mean_one(bind.value, aliases)]
        uses = [(call.scope, call.callee, call.line, call.args) for call in calls]
        uses += [(bind.scope, bind.value, bind.line, ()) for bind in binds]
        for scope, text, line, args in uses:
            namespace, name = _operator(names, table, scope, text)
            if name:
                ref = Ref(table.path, scope)
                entries.of(namespace, name).callers.setdefault(ref, Caller(ref, line, args))


def _may_mean_one(text: str, aliases: set[str]) -> bool:
    return text.startswith(PREFIX) or (bool(aliases) and text.partition(".")[0] in aliases)


def _aliases(table: Table) -> set[str]:
    """Names that a file makes stand for `torch.ops` or for a namespace of it."""
    found = {bind.target for bind in table.outline.binds if bind.value.startswith("torch.ops")}
    return found | {
        item.alias for item in table.outline.imports if f"{item.module}.{item.name}".startswith("torch.ops")
    }


def _operator(names: Names, table: Table, scope: int, text: str) -> tuple[str, str]:
    """Namespace and name of the operator that a dotted text means; two empty texts if it means none."""
    dotted = text
    if not text.startswith(PREFIX):
        values = names.values(table.path, scope, text)
        dotted = next((v.text for v in values if v.kind is Kind.OUTSIDE and v.text.startswith(PREFIX)), "")
    namespace, _, rest = dotted.removeprefix(PREFIX).partition(".")
    name = rest.partition(".")[0]
    is_plain = namespace.isidentifier() and name.isidentifier() and namespace not in _LOADING
    return (namespace, name) if is_plain else ("", "")


def _join_registrations(names: Names, compiled: Compiled, entries: _Entries) -> None:
    """A registration that does not say its namespace fits every operator of its name."""
    called = entries.by_name()
    for each in registrations(names, compiled):
        fitting = [one for one in called.get(each.name, ()) if each.namespace in ("", one.namespace)]
        for entry in fitting or [entries.of(each.namespace, each.name)]:
            entry.registered.append(each)


def _join_schemas(entries: _Entries, libraries: Iterable[Library]) -> None:
    """Nor does a schema say its namespace, as a rule."""
    known = entries.by_name()
    for library in libraries:
        for schema in library.schemas:
            namespace, _, name = schema.partition("(")[0].rpartition("::")
            name = name.partition(".")[0]
            fitting = [one for one in known.get(name, ()) if namespace in ("", one.namespace)]
            for entry in fitting or [entries.of(namespace, name)]:
                entry.schema = entry.schema or schema
                entry.libraries[library.path] = None


def _join_built(names: Names, compiled: Compiled, entries: _Entries) -> None:
    """Functions of modules that are built at run time, under the name of the builder."""
    built = Built(names)
    claimed: set[Registration] = set()
    exported: dict[str, list[Registration]] = {}
    for entry in entries.values():
        for each in entry.defining:
            if not is_python(each.home.path):
                exported.setdefault(each.name, []).append(each)
    for call in built.calls():
        home = names.tables[call.builder.path]
        entry = entries.of(f"{home.module}.{home.qualname(call.builder.scope)}", call.name)
        if not entry.callers:
            sources = built.sources[call.builder]
            entry.registered += [each for each in exported.get(call.name, ()) if each.home.path in sources]
            claimed.update(entry.registered)
            if not entry.registered:
                line = names.scope_of(call.builder).line
                found = [ref for ref in compiled.get(call.name, ()) if ref.path in sources]
                entry.registered += [
                    Registration(entry.namespace, call.name, call.builder, line, ref, is_fake=False)
                    for ref in _behind(names, call, found)
                ]
        entry.callers.setdefault(call.caller, Caller(call.caller, call.line, call.args))
    for key, entry in list(entries.items()):
        if not entry.callers and not entry.schema and entry.registered and claimed.issuperset(entry.registered):
            del entries[key]  # exported for the module alone


def _behind(names: Names, call: BuiltCall, found: list[Ref]) -> Sequence[Ref | None]:
    """The functions behind a name of a built module; one that is not told where the builder only names it."""
    return found or ([None] if call.name in names.tables[call.builder.path].words else [])


def _join_symbols(entries: _Entries, libraries: Iterable[Library]) -> None:
    """Exported functions by their names: those of operators that are called, and those on tensors that none is."""
    known = entries.by_name()
    for library in libraries:
        for symbol in library.symbols:
            name, takes_tensor = exported(symbol)
            fitting = known.get(name, [])
            if takes_tensor and not fitting:
                fitting = [entries.of("", name)]
            for entry in fitting:
                entry.is_exported = True
                if not entry.schema:
                    entry.libraries[library.path] = None


def exported(symbol: str) -> tuple[str, bool]:
    """Name of the function that a mangled symbol stands for, and whether its first argument is a tensor.

    >>> exported("_Z26chain_speculative_samplingN2at6TensorES0_b")
    ('chain_speculative_sampling', True)
    >>> exported("_ZN2at5emptyEN2at6TensorE")
    ('', False)
    """
    is_nested = symbol.startswith("_ZN")
    at, parts = 3 if is_nested else 2, list[str]()
    while symbol.startswith("_Z") and (length := _LENGTH.match(symbol, at)):
        at = length.end() + int(length[0])
        parts.append(symbol[length.end() : at])
        if not is_nested:
            break
    if not parts or parts[0] in _LANGUAGES:
        return "", False
    rest = symbol[at:].removeprefix("E") if is_nested else symbol[at:]
    return parts[-1], rest.lstrip("RKO").startswith(_TENSORS)


def _own(names: Names, libraries: Iterable[Library], entries: _Entries) -> frozenset[str]:
    """Namespaces that the tree fills: its packages, its libraries, and those that it defines for the most part."""
    found = {path.partition("/")[0] for path in names.tables}
    found |= {PurePosixPath(library.path).name.partition(".")[0] for library in libraries}
    balance = Counter[str]()
    for entry in entries.values():
        balance[entry.namespace] += 1 if entry.schema or entry.defining else -1
    return frozenset(found | {namespace for namespace, more in balance.items() if more >= 0}) - _OF_TORCH
