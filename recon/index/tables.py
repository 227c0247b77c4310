"""What one file defines, by scope and name: the ground on which names are resolved."""

import gc
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

from recon.index.records import Bind, Call, Import, Outline, Param, Scope, ScopeKind

Entry = Scope | Import | Bind | Param
"""What gives a name its meaning in a scope."""

_LATER = frozenset({"setter", "deleter", "getter"})
_PYTHON = frozenset({".py", ".pyi"})


class Ref(NamedTuple):
    """A definition: a module, class or function of one file."""

    path: str
    scope: int


def is_python(path: str) -> bool:
    """Whether a file is Python source."""
    return PurePosixPath(path).suffix in _PYTHON


@cache
def tokens(text: str) -> tuple[str, ...]:
    """The steps of a dotted text: `a.b[].c()` is `a`, `b[]`, `c`, `()`."""
    found: list[str] = []
    for part in text.split("."):
        name, bracket, rest = part.partition("()")
        if name:
            found.append(name)
        while bracket:
            found.append("()")
            name, bracket, rest = rest.partition("()")
            if name:  # `a()[]` takes an element of a result
                found.append(name)
    return tuple(found)


def import_base(path: str, packages: Container[str]) -> str:
    """Folder that a file's module is imported from: the one that holds its outermost package, '' for the tree itself.

    A checkout keeps its package below `python/` or `src/`, which no import names; a folder without `__init__` inside a
    package is a part of it.

    Args:
        path: The file.
        packages: Folders that hold an `__init__.py`.
    """
    for folder in reversed(PurePosixPath(path).parents[:-1]):
        if str(folder) in packages:
            return "" if str(folder.parent) == "." else str(folder.parent)
    return ""


@contextmanager
def paused_gc() -> Iterator[None]:
    """Build much and drop nothing: looking for garbage meanwhile takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Table:
    """The names of one file.

    Attributes:
        module: Dotted name of the module, '' for a file that is no Python module.
        package: Dotted name of the package that relative imports start from.
        entries: Of each scope: name to what gives it its meaning, in source order. `X[]` stands for what X holds.
        attributes: Of each class: name to the assignments to `self.name` in its methods.
        stars: Of each scope: modules of which all names are imported.
    """

    def __init__(self, path: str, outline: Outline, base: str = "") -> None:
        self.path = path
        self.outline = outline
        self.scopes = outline.scopes
        inner = PurePosixPath(path).relative_to(base).with_suffix("")
        parts = list(inner.parts) if is_python(path) else []
        is_package = bool(parts) and parts[-1] == "__init__"
        self.module = ".".join(parts[:-1] if is_package else parts)
        self.package = self.module if is_package else ".".join(parts[:-1])
        self.entries: list[dict[str, list[Entry]]] = [{} for _ in self.scopes]
        self.attributes: dict[int, dict[str, list[Bind]]] = {}
        self.stars: dict[int, list[Import]] = {}
        self._nestings: dict[int, tuple[int, ...]] = {}
        self._define()
        self._bind()

    def _define(self) -> None:
        entries = self.entries
        for scope in self.scopes[1:]:
            if not any(word.rpartition(".")[2] in _LATER or word.endswith("overload") for word in scope.decorators):
                entries[scope.parent].setdefault(scope.name, []).append(scope)
            own = entries[scope.id]
            for param in scope.params:
                name = param.name.lstrip("*")
                own.setdefault(f"{name}[]" if name != param.name else name, []).append(param)
        for item in self.outline.imports:
            if item.name == "*":
                self.stars.setdefault(item.scope, []).append(item)
            elif item.alias:
                entries[item.scope].setdefault(item.alias, []).append(item)

    def _bind(self) -> None:
        for bind in self.outline.binds:
            root, dot, name = bind.target.partition(".")
            if not dot:
                self.entries[bind.scope].setdefault(bind.target, []).append(bind)
            elif "." not in name and (owner := self.class_of_self(bind.scope, root)) is not None:
                self.attributes.setdefault(owner, {}).setdefault(name, []).append(bind)

    def class_of_self(self, scope: int, name: str) -> int | None:
        """The class whose instance (or itself) a name is, as first parameter of the method around a scope."""
        while scope > 0:
            row = self.scopes[scope]
            if row.kind is ScopeKind.FUNCTION and row.params and row.params[0].name == name:
                return row.parent if self.is_method(row) else None
            scope = row.parent
        return None

    def is_method(self, row: Scope) -> bool:
        """Whether a function takes its object as first parameter."""
        return self.scopes[row.parent].kind is ScopeKind.CLASS and "staticmethod" not in row.decorators

    def class_around(self, scope: int) -> int | None:
        """The innermost class around a scope."""
        while scope > 0:
            if self.scopes[scope].kind is ScopeKind.CLASS:
                return scope
            scope = self.scopes[scope].parent
        return None

    def nesting(self, scope: int) -> tuple[int, ...]:
        """Scopes in which a name is looked for, innermost first: classes around the first one are passed over."""
        known = self._nestings.get(scope)
        if known is None:
            found = [scope]
            one = scope
            while one > 0:
                one = self.scopes[one].parent
                if one == 0 or self.scopes[one].kind is ScopeKind.FUNCTION:
                    found.append(one)
            known = self._nestings[scope] = tuple(found)
        return known

    def home(self, scope: int, name: str) -> int | None:
        """The scope that gives a name its meaning, None where the file does not know it."""
        entries, stars = self.entries, self.stars
        for one in self.nesting(scope):
            if name in entries[one] or one in stars:
                return one
        base, bracket, _ = name.partition("[")
        return self.home(scope, base) if bracket else None

    @cached_property
    def words(self) -> frozenset[str]:
        """All strings of the file that could name something."""
        return frozenset(text.text for text in self.outline.texts)

    @cached_property
    def _methods(self) -> dict[int, list[Scope]]:
        found: dict[int, list[Scope]] = {}
        for row in self.scopes:
            if row.kind is ScopeKind.FUNCTION:
                found.setdefault(row.parent, []).append(row)
        return found

    def scopes_in(self, scope: int) -> Sequence[Scope]:
        """The functions that stand directly in a scope."""
        return self._methods.get(scope, ())

    @cached_property
    def _calls(self) -> dict[int, list[Call]]:
        found: dict[int, list[Call]] = {}
        for call in self.outline.calls:
            found.setdefault(call.scope, []).append(call)
        return found

    def calls_in(self, scope: int) -> Sequence[Call]:
        """The calls that stand in a scope."""
        return self._calls.get(scope, ())

    def call_at(self, scope: int, line: int, callee: str) -> Call | None:
        """The call that a binding's value came from."""
        matching = (
            call for call in self.outline.calls if call.line == line and call.scope == scope and call.callee == callee
        )
        return next(matching, None)

    def qualname(self, scope: int) -> str:
        """Dotted name of a scope inside its module, '' for the module."""
        names: list[str] = []
        while scope > 0:
            names.append(self.scopes[scope].name)
            scope = self.scopes[scope].parent
        return ".".join(reversed(names))
