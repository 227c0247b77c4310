"""Registrations: where Python and C++ give a function the name of an operator."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from recon.index.names import Names
from recon.index.records import Call, Scope, ScopeKind
from recon.index.tables import Ref, Table, is_python

_EXPORTS = frozenset({"TVM_FFI_DLL_EXPORT_TYPED_FUNC", "TVM_FFI_DLL_EXPORT_FUNC"})
_IMPLEMENTS = frozenset({"impl", "triton_op", "register_kernel"})
_DEFINES = frozenset({"def", "define"})
_FAKES = frozenset({"impl_abstract", "abstract_impl"})
_MACRO = "LIBRARY"
"""Part of the macros whose first argument is the namespace: TORCH_LIBRARY, STABLE_TORCH_LIBRARY_IMPL, ..."""
_PLACEHOLDER = "TORCH_EXTENSION_NAME"
"""What the build puts the namespace in for."""


class Registration(NamedTuple):
    """One statement that names an operator."""

    namespace: str
    """'' where the statement does not say."""
    name: str
    home: Ref
    """The definition that holds the statement."""
    line: int
    function: Ref | None
    """What runs for the operator, where the tree holds it."""
    is_fake: bool
    """Whether the function only tells shapes."""


Compiled = Mapping[str, Sequence[Ref]]
"""Functions of C++ and CUDA sources by name."""


def registrations(names: Names, compiled: Compiled) -> Iterator[Registration]:
    """All registrations of a tree, file by file; `compiled` is what `functions_by_name` found."""
    for table in names.tables.values():
        if is_python(table.path):
            yield from _python(names, table)
        else:
            yield from _compiled(table, compiled)


def functions_by_name(names: Names) -> Compiled:
    """Functions of C++ and CUDA sources outside of classes, by the last part of their name."""
    found: dict[str, list[Ref]] = {}
    for table in names.tables.values():
        if not is_python(table.path):
            for row in table.scopes:
                if row.kind is ScopeKind.FUNCTION and table.scopes[row.parent].kind is ScopeKind.MODULE:
                    found.setdefault(row.name.rpartition("::")[2], []).append(Ref(table.path, row.id))
    return found


def _python(names: Names, table: Table) -> Iterator[Registration]:
    said = list(_called(names, table))
    yield from said
    known = {each.function for each in said}
    for row in table.scopes:  # decorators without arguments are no calls
        if any("custom_op" in word.rpartition(".")[2] for word in row.decorators) and table.refs[row.id] not in known:
            home = table.refs[row.parent]
            yield Registration("", row.name, home, row.first_line, table.refs[row.id], is_fake=False)


def _called(names: Names, table: Table) -> Iterator[Registration]:
    for call in table.outline.calls:
        last = call.callee.rpartition(".")[2]
        if "register_fake" in last or last in _FAKES:
            yield from _registered(names, table, call, is_fake=True)
        elif "custom_op" in last or last in _IMPLEMENTS:
            yield from _registered(names, table, call, is_fake=False)
        elif last == "define" and call.args:
            namespace, name = _split(_literal(table, call, call.args[0]))
            if name:
                yield Registration(namespace, name, Ref(table.path, call.scope), call.line, None, is_fake=False)


def _registered(names: Names, table: Table, call: Call, *, is_fake: bool) -> Iterator[Registration]:
    """The operator and the functions of one registration."""
    keywords = dict(zip(call.keywords, call.args[call.positional :], strict=True))
    given = call.args[: call.positional]
    literals = [arg for arg in (*given, keywords.get("op_name", "")) if arg[:1] in {"'", '"'}]
    namespace, name = _split(_literal(table, call, literals[0])) if literals else ("", "")
    last = call.callee.rpartition(".")[2]
    if namespace == "aten" or (not name and (is_fake or last == "impl")):
        return
    decorated = _decorated(table, call)
    if decorated is not None:
        functions = [decorated]
    else:
        texts = [keywords["op_func"]] if "op_func" in keywords else given
        functions = [ref for text in texts for ref in _functions(names, table, call, text)]
    home = Ref(table.path, call.scope)
    for ref in functions:
        yield Registration(namespace, name or names.scope_of(ref).name, home, call.line, ref, is_fake)
    for ref in _functions(names, table, call, keywords.get("fake_impl", "")):
        if name:
            yield Registration(namespace, name, home, call.line, ref, is_fake=True)


def _functions(names: Names, table: Table, call: Call, text: str) -> Iterator[Ref]:
    if text[:1].isalpha() or text[:1] == "_":
        for ref in names.resolve(table.path, call.scope, text):
            if names.scope_of(ref).kind is ScopeKind.FUNCTION:
                yield ref


def _decorated(table: Table, call: Call) -> Ref | None:
    """The function that a call decorates."""
    for row in table.scopes:
        if row.parent == call.scope and row.first_line <= call.line <= row.line and call.callee in row.decorators:
            return Ref(table.path, row.id)
    return None


def _literal(table: Table, call: Call, source: str) -> str:
    """A string argument; one that its record cuts short is looked up among the strings of the file."""
    text = source.strip("'\"")
    if source[:1] in {"'", '"'} and source[-1:] != source[:1]:
        near = (each for each in table.outline.texts if each.scope == call.scope and 0 <= each.line - call.line < 4)
        return next((each.text for each in near if each.text.startswith(text)), text)
    return text if source[:1] in {"'", '"'} else ""


def _split(text: str) -> tuple[str, str]:
    """Namespace and bare name of `ns::name.overload(Tensor x) -> ()`."""
    namespace, _, name = text.partition("(")[0].strip().rpartition("::")
    return namespace, name.partition(".")[0]


def _compiled(table: Table, compiled: Compiled) -> Iterator[Registration]:
    for call in table.outline.calls:
        last = call.callee.rpartition(".")[2]
        text = ""
        if (last == "impl" or last in _DEFINES) and call.args and call.args[0][:1] == '"':
            text = call.args[0].strip('"')
        elif last in _EXPORTS and len(call.args) > 1:
            text = call.args[0]
        if text:
            namespace, name = _split(text)
            function = call.args[-1].rpartition("::")[2] if len(call.args) > 1 else ""
            home = Ref(table.path, call.scope)
            for ref in compiled.get(function, ()) or (None,):
                yield Registration(namespace or _around(table, call.scope), name, home, call.line, ref, is_fake=False)


def _around(table: Table, scope: int) -> str:
    """The namespace of the macro around a registration, whose arguments read as types without names."""
    row: Scope = table.scopes[scope]
    namespace = row.params[0].annotation if _MACRO in row.name and row.params else ""
    return "" if namespace == _PLACEHOLDER else namespace
