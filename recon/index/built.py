"""Modules built at run time: which Python functions build them from which sources, and who calls what of them.

A builder names source files of C++ or CUDA. What it gives back is followed through locals and results, so that
`module = build()` and `module.f(x)`, `build().f(x)` and `get().f(x)`, where `get` returns what `build` built, are calls
of `f`.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from recon.index.names import Names
from recon.index.records import Bind, ScopeKind
from recon.index.tables import Ref, Table, is_python

_SOURCES = (".cu", ".cuh", ".cpp", ".cc", ".cxx")
_MOST_HANDS = 4
"""Functions through which a module may go from its builder to its caller."""


class BuiltCall(NamedTuple):
    """A call of a function of a module that is built at run time."""

    builder: Ref
    name: str
    caller: Ref
    line: int
    args: tuple[str, ...]


class Built:
    """The modules that a tree builds at run time.

    Attributes:
        sources: By builder, the paths of the tree that it names.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._tables = [table for table in names.tables.values() if is_python(table.path)]
        self.sources = _builders(names)
        self._loaders = {ref: ref for ref in self.sources}
        self._holding: dict[str, dict[tuple[int, str], Ref]] = {}
        called = [(table, _called(table)) for table in self._tables]
        for _ in range(_MOST_HANDS):
            before = len(self._loaders)
            self._stems = {names.scope_of(ref).name for ref in self._loaders}
            for table, stems in called:
                if not stems.isdisjoint(self._stems):
                    self._read(table)
            if len(self._loaders) == before:
                break

    def calls(self) -> Iterator[BuiltCall]:
        """All calls of functions of these modules."""
        for table in self._tables:
            is_holding = table.path in self._holding
            for call in table.outline.calls:
                base, _, name = call.callee.rpartition(".")
                builder = self._origin(table, call.scope, base) if is_holding or "()" in base else None
                if builder is not None and Ref(table.path, call.scope) not in self._loaders:
                    yield BuiltCall(builder, name.removesuffix("[]"), Ref(table.path, call.scope), call.line, call.args)

    def _read(self, table: Table) -> None:
        """Take note of the locals of a file that hold a module, and of the functions that give one back."""
        holding = self._holding[table.path] = {}
        for bind in table.outline.binds:
            builder = self._loaded(table, bind.scope, bind.value) if _is_step(table, bind) else None
            if builder is not None:
                holding[bind.scope, bind.target] = builder
        for bind in table.outline.binds:
            ref = Ref(table.path, bind.scope)
            if bind.target == "return" and bind.value and ref not in self._loaders:
                is_step = bind.value.isidentifier() or _is_step(table, bind)
                builder = self._origin(table, bind.scope, bind.value) if is_step else None
                builder = builder or self._dressed(table, bind)
                if builder is not None:
                    self._loaders[ref] = builder

    def _dressed(self, table: Table, bind: Bind) -> Ref | None:
        """The builder whose module is given back as functions of one's own that call it."""
        inner = {row.id for row in table.scopes if row.parent == bind.scope and row.kind is ScopeKind.FUNCTION}
        held = {name: ref for (scope, name), ref in self._holding[table.path].items() if scope == bind.scope}
        if not held or not inner or not bind.value.endswith("()"):
            return None
        called = (call.callee.partition(".")[0] for call in table.outline.calls if call.scope in inner)
        return next((held[name] for name in called if name in held), None)

    def _origin(self, table: Table, scope: int, text: str) -> Ref | None:
        """The builder of the module that a text stands for: a local that holds one, or a call that gives one."""
        if text.isidentifier():
            holding = self._holding.get(table.path, {})
            found = (holding.get((one, text)) for one in table.nesting(scope)) if holding else ()
            return next((ref for ref in found if ref is not None), None)
        return self._loaded(table, scope, text)

    def _loaded(self, table: Table, scope: int, text: str) -> Ref | None:
        """The builder behind `load()`, `load().build()` and their like."""
        first, call, _ = text.partition("()")
        if not call or first.rpartition(".")[2] not in self._stems:
            return None
        found = (self._loaders.get(ref) for ref in self._names.resolve(table.path, scope, first))
        return next((ref for ref in found if ref is not None), None)


def _is_step(table: Table, bind: Bind) -> bool:
    """Whether a value is a module on its way: `load()`, `load().build()`, but no `load().f(x)`, which uses it."""
    callee = bind.value.removesuffix("()")
    if "()" not in callee:
        return callee != bind.value
    call = table.call_at(bind.scope, bind.line, callee)
    return callee != bind.value and call is not None and not call.args


def _called(table: Table) -> set[str]:
    """Last names of the functions whose results a file keeps or gives back."""
    values = (bind.value for bind in table.outline.binds if "()" in bind.value)
    return {value.partition("()")[0].rpartition(".")[2] for value in values}


def _builders(names: Names) -> dict[Ref, tuple[str, ...]]:
    """Functions that name sources to be compiled, with the paths of the tree that they can mean."""
    by_name: dict[str, list[str]] = {}
    for path in names.tables:
        if not is_python(path):
            by_name.setdefault(PurePosixPath(path).name, []).append(path)
    found: dict[Ref, dict[str, None]] = {}
    for table in names.tables.values():
        for text in table.outline.texts if is_python(table.path) else ():
            if text.text.endswith(_SOURCES) and table.scopes[text.scope].kind is ScopeKind.FUNCTION:
                paths = found.setdefault(Ref(table.path, text.scope), {})
                paths.update(dict.fromkeys(_meant(text.text, by_name)))
    return {ref: tuple(paths) for ref, paths in found.items()}


def _meant(text: str, by_name: dict[str, list[str]]) -> list[str]:
    """Paths that end as a text does; where none does, those of its file name."""
    named = by_name.get(PurePosixPath(text).name, [])
    return [path for path in named if path.endswith(f"/{text}")] or named
