"""Reading what one file binds: names to values, elements to containers, results to functions."""

import ast
from collections.abc import Sequence

from recon.index import signs, spell
from recon.index.libraries import library
from recon.index.records import Bind, Branch, Call, Feature, Import, Param, Scope, ScopeKind, Text

_DISPLAYS = (ast.Tuple, ast.List, ast.Set)
_PASSED_ON = spell.words("list tuple set sorted reversed iter frozenset deque")
_FIRST_LAMBDA = 1 << 30


class Frame:
    """A scope while it is read."""

    __slots__ = ("around", "bits", "globals", "id", "jit", "loaded", "loops", "node", "outer")

    def __init__(self, scope: int, node: ast.AST, outer: "Frame | None", *, jit: bool) -> None:
        self.id = scope
        self.node = node
        self.outer = outer
        self.jit = jit
        self.bits = int(Feature.JIT) if jit else 0
        self.around = 0  # as of `Bind.around`, of what is read now
        self.loops: list[signs.Loop] = []
        self.loaded: set[str] = set()  # names that hold the result of a subscript or load
        self.globals: dict[str, int] = {}  # name to the scope that `global` or `nonlocal` means


class BindingReader:
    """What is kept while one file is read, and the reading of assignments."""

    def __init__(self, data: bytes, frame: Frame) -> None:
        self.data = data
        self.frame = frame
        self.here = frame.id  # the scope that records belong to: the frame's, or that of a lambda in it
        self.since = 0  # last line of the current statement
        self.lines: list[bytes] | None = None
        self.scopes: list[Scope] = []
        self.lambdas: list[Scope] = []
        self.calls: list[Call] = []
        self.imports: list[Import] = []
        self.libraries: dict[str, str] = {}  # what a file calls a library, and what most call it
        self.binds: list[Bind] = []
        self.texts: list[Text] = []
        self.branches: list[Branch] = []

    def add_import(self, module: str, name: str, alias: str, line: int) -> None:
        """Keep an import."""
        item = Import(self.here, module, name, alias, line, self.frame.around)
        self.imports.append(item)
        if short := library(item):
            self.libraries[alias] = short

    def add_bind(self, target: str, value: str, note: str, line: int) -> None:
        """Keep a binding, in the scope that owns the name."""
        frame = self.frame
        scope = frame.globals.get(target, self.here) if frame.globals else self.here
        since = self.since if self.since > line else 0
        self.binds.append(Bind(scope, target, value, note, line, since, frame.around if scope == self.here else -1))

    def bind(self, target: ast.expr, value: ast.expr | None, note: ast.expr | None = None) -> None:
        """Record what an assignment tells of a name's type."""
        name = spell.dotted(target)
        if not name:
            if isinstance(target, _DISPLAYS):
                self._unpack(target.elts, value)
            return
        if "()" in name:
            return
        line = target.lineno
        for suffix, text in spell.annotated(note) if note is not None else ():
            self.add_bind(name + suffix, "", text, line)
        for suffix, text in spell.values(value) if value is not None else ():
            self.add_bind(name + suffix, text, "", line)

    def _unpack(self, targets: Sequence[ast.expr], value: ast.expr | None) -> None:
        """Record what unpacking binds: name by name where both sides are written out, else elements of the value."""
        if isinstance(value, _DISPLAYS) and not any(isinstance(each, ast.Starred) for each in value.elts):
            self._pair(targets, value.elts)
        elif value is not None and (text := spell.dotted(value)):
            self._elements(targets, text)

    def _pair(self, targets: Sequence[ast.expr], values: Sequence[ast.expr]) -> None:
        star = next((i for i, each in enumerate(targets) if isinstance(each, ast.Starred)), None)
        if star is None:
            for one, other in zip(targets, values, strict=False):
                self.bind(one, other)
            return
        after = len(targets) - star - 1
        self._pair(targets[:star], values[:star])
        self._pair(targets[star + 1 :], values[len(values) - after :] if after else [])
        starred = targets[star]
        assert isinstance(starred, ast.Starred)
        rest = ast.List(list(values[star : len(values) - after]), ast.Load())
        self.bind(starred.value, rest)

    def _elements(self, targets: Sequence[ast.expr], text: str) -> None:
        """Each target takes an element of what a text is."""
        is_after_star = False
        for place, target in enumerate(targets):
            element = f"{text}[]" if is_after_star else f"{text}[{place}]"
            if isinstance(target, ast.Starred):
                is_after_star = True
                if name := spell.dotted(target.value):
                    self.add_bind(name + "[]", f"{text}[]", "", target.lineno)
            elif isinstance(target, _DISPLAYS):
                self._elements(target.elts, element)
            elif (name := spell.dotted(target)) and "()" not in name:
                self.add_bind(name, element, "", target.lineno)

    def bind_element(self, target: ast.expr, iterable: ast.expr) -> None:
        """Record that a name goes through the elements of something."""
        pair = target.elts if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None
        match iterable:
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]) if pair:
                self.bind_element(pair[1], inner)
                return
            case ast.Call(func=ast.Name(id="zip"), args=inners) if isinstance(target, ast.Tuple) and len(inners) == len(
                target.elts
            ):
                for one, inner in zip(target.elts, inners, strict=True):
                    self.bind_element(one, inner)
                return
            case ast.Call(func=ast.Name(id=name), args=[inner, *_]) if name in _PASSED_ON:
                self.bind_element(target, inner)
                return
            case ast.Call(func=ast.Attribute(value=inner, attr="items"), args=[]) if pair:
                text = spell.dotted(inner)
                self._bind_text(pair[1], text and text + "[]")
                return
            case ast.Call(func=ast.Attribute(value=inner, attr="values"), args=[]):
                text = spell.dotted(inner)
                self._bind_text(target, text and text + "[]")
                return
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                for element in elements:
                    self.bind(target, element)
                return
        text = spell.dotted(iterable)
        self._bind_text(target, text and text + "[*]")

    def _bind_text(self, target: ast.expr, text: str) -> None:
        if not text:
            return
        if isinstance(target, _DISPLAYS):
            self._elements(target.elts, text)
        elif (name := spell.dotted(target)) and "()" not in name:
            self.add_bind(name, text, "", target.lineno)

    def bind_filled(self, container: ast.expr, how: str, node: ast.Call) -> None:
        """Record what `x.append(f)` and its like put into a container."""
        if not node.args or not (name := spell.dotted(container)) or "()" in name:
            return
        line = node.lineno
        if how == "update":
            for suffix, text in spell.values(node.args[0]):
                if suffix:
                    self.add_bind(name + suffix, text, "", line)
        elif how == "extend":
            for suffix, text in spell.values(node.args[0]):
                self.add_bind(name + "[]", text if suffix else text + "[]", "", line)
        else:
            given = node.args[-1]
            if (kind := given.__class__) is ast.Name or kind is ast.Attribute or kind is ast.Lambda:
                self.add_bind(name + "[]", spell.dotted(given), "", line)

    def open_lambda(self, node: ast.Lambda, params: tuple[Param, ...]) -> int:
        """Begin the scope of a lambda; its id is settled by `settle_lambdas`.

        Returns:
            The scope around it.
        """
        outer = self.here
        self.here = _FIRST_LAMBDA + len(self.lambdas)
        name = spell.dotted(node)
        last = node.end_lineno or node.lineno
        bare = Feature(0)
        self.lambdas.append(
            Scope(self.here, outer, ScopeKind.LAMBDA, name, node.lineno, node.lineno, last, bare, params, (), (), "")
        )
        for suffix, text in spell.values(node.body):
            self.binds.append(Bind(self.here, "return" + suffix, text, "", node.lineno))
        return outer

    def settle_lambdas(self) -> None:
        """Put the scopes of lambdas behind all others, and give their records their ids."""
        if not self.lambdas:
            return
        shift = len(self.scopes) - _FIRST_LAMBDA

        def own(scope: int) -> int:
            return scope + shift if scope >= _FIRST_LAMBDA else scope

        self.scopes += [_moved(row, own(row.id), own(row.parent)) for row in self.lambdas]
        self.calls = [
            Call(own(c.scope), c.callee, c.line, c.positional, c.keywords, c.args) if c.scope >= _FIRST_LAMBDA else c
            for c in self.calls
        ]
        self.binds = [
            Bind(own(b.scope), b.target, b.value, b.annotation, b.line, b.since, b.around)
            if b.scope >= _FIRST_LAMBDA
            else b
            for b in self.binds
        ]
        self.texts = [Text(own(t.scope), t.text, t.role, t.line) if t.scope >= _FIRST_LAMBDA else t for t in self.texts]


def _moved(row: Scope, scope: int, parent: int) -> Scope:
    return Scope(
        scope, parent, row.kind, row.name, row.line, row.first_line, row.end_line, row.features, row.params, (), (), ""
    )
