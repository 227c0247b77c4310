"""What decides that a class is used: the conditions above the places where it is made, or the key it is kept under.

Engines choose a runner, a worker or a backend by an environment variable, the configuration, the platform, or the name
of a method. The source says which: in the `if` around the construction, in an early return before it, in the key of a
registry. Only the few files with such places are parsed anew.
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from recon.index.conditions import Condition, conditions_at, key_at
from recon.index.names import Names
from recon.index.records import Bind
from recon.index.switches import Switches
from recon.index.tables import Ref, is_python

_LONGEST = 100
_METHOD = re.compile(r"(?:is|uses?)_(?P<method>\w+)$")
_OF_METHODS = re.compile(r"spec|algo|draft", re.IGNORECASE)
_OF_PLATFORMS = re.compile(r"platform|(?:^|\W)_?is_(?:cuda|hip|rocm|npu|xpu|cpu|tpu|musa|hpu|mps)\b")
_NO_METHODS = frozenset({"none", "some", "speculative", "extend", "enabled"})


class Pick(NamedTuple):
    """One place where a class is chosen."""

    slot: tuple[str, int, str]
    """What the pick fills, so that alternatives share it: file, class or function, and the name that is bound."""
    by: str
    """`environment`, `configuration`, `platform`, `method eagle`, `backend TREE_ATTN`; empty where nothing decides."""
    is_default: bool
    """Whether it is chosen when nobody says anything."""
    condition: str
    """The condition as source; empty where there is none."""
    path: str
    line: int


class Picks:
    """The picks of a tree, looked for as they are asked for.

    Args:
        names: The definitions of the tree.
        source: The text of a file; empty where it cannot be had.
    """

    def __init__(self, names: Names, source: Callable[[str], bytes]) -> None:
        self._names = names
        self._source = source
        self._parsed: dict[str, ast.Module | None] = {}
        self._known: dict[Ref, tuple[Pick, ...]] = {}
        self._switches = Switches(names, self.parsed)

    def of(self, owner: Ref) -> tuple[Pick, ...]:
        """Where a class is chosen among others, in the order of files and lines."""
        if owner not in self._known:
            self._known[owner] = tuple(self._find(owner))
        return self._known[owner]

    def parsed(self, path: str) -> ast.Module | None:
        """The syntax tree of a file; None where this Python cannot read it."""
        if path not in self._parsed:
            try:
                self._parsed[path] = ast.parse(self._source(path))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                self._parsed[path] = None
        return self._parsed[path]

    def _find(self, owner: Ref) -> Iterator[Pick]:
        for path, scope, target, line in sorted(set(self._made(owner))):
            tree = self.parsed(path)
            if tree is None:
                continue
            table = self._names.tables[path]
            inside = table.class_around(scope) if "." in target else scope
            slot = (path, scope if inside is None else inside, target)
            key, registry = key_at(tree, line)
            if key and (kind := _kind_of_registry(registry)):
                yield Pick(slot, f"{kind} {key}", is_default=False, condition="", path=path, line=line)
            else:
                yield self._pick(slot, conditions_at(tree, line), path, scope, line)

    def _pick(self, slot: tuple[str, int, str], conditions: list[Condition], path: str, scope: int, line: int) -> Pick:
        """What the conditions above a place say, the nearest that holds first."""
        around = self._names.qualname(Ref(path, scope))
        named = sorted(conditions, key=lambda each: not each.holds)
        for each in named:
            for kind, asked in (("method", _method_of), ("backend", _backend_of)):
                if each.holds and (name := asked(each.test, around)):
                    by = f"{kind} {name}"
                    return Pick(slot, by, is_default=False, condition=_shown(each), path=path, line=each.test.lineno)
        for each in named:
            switch = self._switches.of(each.test, path, scope)
            by = switch.kind or ("platform" if _OF_PLATFORMS.search(ast.unparse(each.test)) else "configuration")
            is_default = _is_automatic(each) or (by != "platform" and switch.default is each.holds)
            return Pick(slot, by, is_default, _shown(each), path, each.test.lineno)
        return Pick(slot, "", is_default=True, condition="", path=path, line=line)

    # Places -----------------------------------------------------------------------------------------------------------

    def _made(self, owner: Ref) -> Iterator[tuple[str, int, str, int]]:
        """Where a class is made, handed out or named by a dotted string: file, scope, what it is bound to, line."""
        name = self._names.scope_of(owner).name
        places = [(owner.path, name), *self._importers.get(name, ())]
        for path, alias in dict.fromkeys(places):
            for bind in self._binds(path).get(alias, ()):
                if owner in self._names.resolve(path, bind.scope, bind.value.removesuffix("()")):
                    yield path, bind.scope, bind.target, bind.line
        for path, scope, text, line in self._dotted.get(name, ()):
            if owner in self._names.find(text):
                yield path, scope, "", line

    def _binds(self, path: str) -> Mapping[str, list[Bind]]:
        found: dict[str, list[Bind]] = {}
        for bind in self._names.tables[path].outline.binds:
            if bind.value and bind.target not in {"raise", "with"}:
                found.setdefault(bind.value.removesuffix("()").rpartition(".")[2], []).append(bind)
        return found

    @cached_property
    def _importers(self) -> Mapping[str, list[tuple[str, str]]]:
        found: dict[str, list[tuple[str, str]]] = {}
        for path, table in self._names.tables.items():
            if is_python(path):
                for item in table.outline.imports:
                    if item.name[:1].isupper():
                        found.setdefault(item.name, []).append((path, item.alias))
        return found

    @cached_property
    def _dotted(self) -> Mapping[str, list[tuple[str, int, str, int]]]:
        found: dict[str, list[tuple[str, int, str, int]]] = {}
        for path, table in self._names.tables.items():
            if is_python(path):
                for text in table.outline.texts:
                    last = text.text.rpartition(".")[2] if text.role == "dotted" else ""
                    if last[:1].isupper():
                        found.setdefault(last, []).append((path, text.scope, text.text, text.line))
        return found


def _is_automatic(condition: Condition) -> bool:
    """Whether a test asks for a choice that was left to the engine: `worker == "auto"`, `backend is None`."""
    match condition.test:
        case ast.Compare(ops=[ast.Eq() | ast.Is()], comparators=[ast.Constant(value="auto" | None)]):
            return condition.holds
    return False


def _kind_of_registry(name: str) -> str:
    if "backend" in name.lower() or "attn" in name.lower():
        return "backend"
    return "method" if _OF_METHODS.search(name) else ""


def _method_of(test: ast.expr, around: str) -> str:
    """The speculative method that a test asks for: `algorithm.is_eagle()`, `config.method == "ngram"`."""
    for node in ast.walk(test):
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name)):
                found = _METHOD.match(name)
                is_asked = found is not None and _OF_METHODS.search(f"{ast.unparse(owner)} {around}")
                if found is not None and is_asked and found["method"] not in _NO_METHODS:
                    return found["method"]
            case ast.Compare(left=left, ops=[ast.Eq() | ast.In()], comparators=[right]):
                if _OF_METHODS.search(ast.unparse(left)) and (name := _constant(right)):
                    return name
    return ""


def _backend_of(test: ast.expr, around: str) -> str:  # noqa: ARG001 - as _method_of
    """The backend that a test asks for: `backend == "triton"`, `selected == Backend.TREE_ATTN`."""
    for node in ast.walk(test):
        match node:
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                if "backend" in ast.unparse(left).lower() and (name := _constant(right)):
                    return name
    return ""


def _constant(node: ast.expr) -> str:
    """A string, the first of several, or the member of an enumeration."""
    match node:
        case ast.Constant(value=str() as text):
            return text.lower() if text.isidentifier() else ""
        case ast.Tuple(elts=[first, *_]) | ast.List(elts=[first, *_]) | ast.Set(elts=[first, *_]):
            return _constant(first)
        case ast.Attribute(attr=name) if name.isupper():
            return name
    return ""


def _shown(condition: Condition) -> str:
    text = ast.unparse(condition.test)
    text = text if condition.holds else f"not ({text})" if " " in text else f"not {text}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
