"""What one file defines, by scope and name: the ground on which names are resolved."""

import gc
from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from operator import attrgetter
from pathlib import PurePosixPath
from typing import NamedTuple

from msgspec.structs import replace

from recon.index.reaching import END, Reaching, Span
from recon.index.records import Bind, Call, Feature, Import, Outline, Param, Scope, ScopeKind


class Patch(NamedTuple):
    """An assignment to an attribute of a module or class, made elsewhere."""

    path: str
    bind: Bind


Entry = Scope | Import | Bind | Param | Patch
"""What gives a name its meaning in a scope."""

_CALLABLE = frozenset({ScopeKind.FUNCTION, ScopeKind.LAMBDA})
_LATER = frozenset({"setter", "deleter", "getter"})
_PYTHON = (".py", ".pyi")
_LINE = attrgetter("line")
_JIT = int(Feature.JIT)  # flags are ten times as slow to combine as numbers


class Ref(NamedTuple):
    """A definition: a module, class or function of one file."""

    path: str
    scope: int


def is_python(path: str) -> bool:
    """Whether a file is Python source."""
    return path.endswith(_PYTHON)


def is_kernel(scope: Scope) -> bool:
    """Whether a function runs on the device."""
    return bool(int(scope.features) & _JIT) or "__global__" in scope.decorators


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
        entries: Of each scope: name to what gives it its meaning, in source order. `X['a']` is what X holds under a
            key, `X[]` what it holds under one that is not written out.
        keys: Of each scope and name in it: what is known of its entries, `X['a']` and the like.
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
        self.keys: dict[tuple[int, str], list[str]] = {}
        self.attributes: dict[int, dict[str, list[Bind]]] = {}
        self.patches: list[Bind] = []  # assignments to attributes of what is not `self`
        self.stars: dict[int, list[Import]] = {}
        self._nestings: dict[int, tuple[int, ...]] = {}
        self._reaching: dict[tuple[int, str], Reaching] = {}
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
                held = f"{name}[]" if name != param.name else name
                own.setdefault(held, []).append(param)
                self._hold(scope.id, held)
        for item in self.outline.imports:
            if item.name == "*":
                self.stars.setdefault(item.scope, []).append(item)
            elif item.alias:
                entries[item.scope].setdefault(item.alias, []).append(item)

    def _bind(self) -> None:
        outer: list[Bind] = []  # entries put into what another scope owns
        for bind in self.outline.binds:
            root, dot, name = bind.target.partition(".")
            if not dot:
                rows = self.entries[bind.scope]
                if root[-1:] == "]" and (base := root.partition("[")[0]) not in rows and base != "return":
                    outer.append(bind)
                    continue
                rows.setdefault(root, []).append(bind)
                self._hold(bind.scope, root)
            elif "." not in name:
                if (owner := self.class_of_self(bind.scope, root)) is not None:
                    self.attributes.setdefault(owner, {}).setdefault(name, []).append(bind)
                    self._hold(-2 - owner, name)
                else:
                    self.patches.append(bind)
        for bind in outer:
            home = self.home(bind.scope, bind.target)
            scope = bind.scope if home is None else home
            held = bind if scope == bind.scope else replace(bind, around=-1)
            self.entries[scope].setdefault(bind.target, []).append(held)
            self._hold(scope, bind.target)

    def _hold(self, scope: int, name: str) -> None:
        """Note an entry with what holds it."""
        while name[-1:] == "]":
            base = name.rpartition("[")[0]
            known = self.keys.setdefault((scope, base), [])
            if name not in known:
                known.append(name)
            if scope >= 0:
                self.entries[scope].setdefault(base, [])  # it is known here, whatever else gives it its meaning
            name = base

    def reaching(self, scope: int, name: str, line: int) -> int:
        """Which entries of a name can give what is read on a line of the scope, as bits; 0 where all can.

        A statement that always runs replaces what came before it; what a loop binds reaches back to the loop's start.
        A line of 0 asks for what is left at the end of the scope.
        """
        entries = self.entries[scope].get(name, ())
        if len(entries) < 2:
            return 0
        known = self._reaching.get((scope, name))
        if known is None:
            known = self._reaching[scope, name] = Reaching([_span(entry) for entry in entries])
        return known.at(line or END)

    def class_of_self(self, scope: int, name: str) -> int | None:
        """The class whose instance (or itself) a name is, as first parameter of the method around a scope."""
        while scope > 0:
            row = self.scopes[scope]
            if row.kind in _CALLABLE and row.params and any(param.name == name for param in row.params):
                return row.parent if row.params[0].name == name and self.is_method(row) else None
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
                if one == 0 or self.scopes[one].kind in _CALLABLE:
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
    def refs(self) -> list[Ref]:
        """Its definitions by scope: one object for each, however often it is named."""
        return [Ref(self.path, scope.id) for scope in self.scopes]

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

    @cached_property
    def _calls_by_line(self) -> dict[int, list[Call]]:
        return {scope: sorted(calls, key=_LINE) for scope, calls in self._calls.items()}

    def call_between(self, scope: int, lines: range, callee: str) -> Call | None:
        """The first call of a callee in some lines of a scope."""
        calls = self._calls_by_line.get(scope, ())
        for place in range(bisect_left(calls, lines.start, key=_LINE), len(calls)):
            if calls[place].line >= lines.stop:
                break
            if calls[place].callee == callee:
                return calls[place]
        return None

    def call_at(self, scope: int, line: int, callee: str) -> Call | None:
        """The call that a binding's value came from."""
        return self.call_between(scope, range(line, line + 1), callee)

    def qualname(self, scope: int) -> str:
        """Dotted name of a scope inside its module, '' for the module."""
        names: list[str] = []
        while scope > 0:
            row = self.scopes[scope]
            names.append(self._lambda_names[scope] if row.kind is ScopeKind.LAMBDA else row.name)
            scope = row.parent
        return ".".join(reversed(names))

    @cached_property
    def _lambda_names(self) -> dict[int, str]:
        """Lambdas by their number in the scope around them, in the order of the source."""
        rows = [row for row in self.scopes if row.kind is ScopeKind.LAMBDA]
        counts: dict[int, int] = {}
        names = {}
        for row in rows:
            counts[row.parent] = counts.get(row.parent, 0) + 1
            names[row.id] = f"<lambda{counts[row.parent]}>"
        return names


def _span(entry: Entry) -> Span:
    """How long an entry holds."""
    if isinstance(entry, Param):
        return Span(0, 0, is_firm=True)
    if isinstance(entry, Patch):
        return Span(0, -1, is_firm=False)
    if isinstance(entry, Bind):
        is_firm = bool(entry.value) and entry.target[-2:] != "[]" and entry.target[:6] != "return"
        return Span(entry.since or entry.line, entry.around, is_firm=is_firm)
    return Span(entry.line, entry.around, is_firm=True)


def split_key(name: str) -> tuple[str, str | None]:
    """A name and the key of its last subscript, None where there is none."""
    if name[-1:] != "]":
        return name, None
    base, _, key = name[:-1].rpartition("[")
    return base, key
