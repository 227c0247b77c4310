"""One function cut out of a tree with all that it stands on, as the text of one module.

An engine's function is to be run where its package cannot be imported: libraries are missing, or importing it starts
half a server. What is cut is text; nothing is executed here. Annotations are dropped, since they name what need not be
there; what a name means is asked of `Names`, so that no library's own names stand here.
"""

import ast
import builtins
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from recon.index.names import Kind, Names, Ref
from recon.index.stripped import Stripped, bound_in, names_in, strip

KNOWN = frozenset({*sys.stdlib_module_names, "torch", "triton", "numpy"})
"""Libraries that a cut module may import."""
MOST_PIECES = 60
MOST_BYTES = 200_000
_DEEPEST_VALUE = 6
"""How far what a module computes when it is imported is followed; what lies deeper is left out."""
LEFT_OUT = '''
class LeftOut(Exception):
    """Something was used that could not be cut."""


class _LeftOut:
    def __init__(self, name):
        self.__dict__["name"] = name

    def _refuse(self, *args, **kwargs):
        raise LeftOut(self.name)

    def __mro_entries__(self, bases):
        return ()

    __call__ = __bool__ = __iter__ = __len__ = __getitem__ = __getattr__ = __eq__ = __index__ = _refuse
    __hash__ = object.__hash__


'''
Source = Callable[[str], bytes]


class Uncut(Exception):
    """A function cannot be cut, and why."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One function as a module of its own."""

    text: str
    function: str
    """Its name in the module."""
    taken: tuple[str, ...]
    """What was cut, as `path:name`, the function first."""
    replaced: tuple[str, ...]
    """What stands in the place of something else, or was left out, one sentence each."""
    annotations: dict[str, str]
    """What the tree writes behind the function's parameters, by their names."""


@dataclass(eq=False)
class _File:
    """The statements of one file by the names that they bind."""

    path: str
    bound: dict[str, list[ast.stmt]] = field(default_factory=dict)


def cut(names: Names, source: Source, ref: Ref) -> Cut:
    """Cut a function of the tree.

    Args:
        names: Of the tree.
        source: Bytes of a file.
        ref: The function; it must stand at the top of its module.

    Raises:
        Uncut: it cannot be made whole.
    """
    scope = names.scope_of(ref)
    if scope.parent != 0:
        raise Uncut(f"{names.qualname(ref)} is a part of a class or of another function")
    cutter = _Cutter(names, source)
    cutter.take(ref.path, scope.name, scope.name, 0)
    text = cutter.text()
    if len(text) > MOST_BYTES:
        raise Uncut(f"it stands on {len(text)} bytes of source, the limit is {MOST_BYTES}")
    annotations = cutter.annotations(ref.path, scope.name)
    return Cut(text, scope.name, tuple(cutter.taken), tuple(dict.fromkeys(cutter.replaced)), annotations)


@dataclass(frozen=True, slots=True)
class _Kept:
    """A state of a cut that can be gone back to."""

    imports: int
    body: int
    taken: int
    replaced: int
    owner: dict[str, tuple[str, str]]
    seen: set[str]


class _Cutter:
    """Collects statements, those that others stand on first."""

    def __init__(self, names: Names, source: Source) -> None:
        self._names = names
        self._source = source
        self._files: dict[str, _File] = {}
        self._imports: list[str] = []
        self._body: list[str] = []
        self._owner: dict[str, tuple[str, str]] = {}  # a name of the module that is made: where it comes from
        self._needs_left_out = False
        self._seen: set[str] = set()
        self._inside: set[tuple[str, str]] = set()  # files, with what functions of theirs import of libraries
        self.taken: list[str] = []
        self.replaced: list[str] = []

    def text(self) -> str:
        """The module."""
        head = "\n".join(dict.fromkeys(self._imports))
        return f"{head}\n{LEFT_OUT if self._needs_left_out else ''}\n" + "\n\n\n".join(self._body) + "\n"

    def annotations(self, path: str, name: str) -> dict[str, str]:
        """Annotations of a function's parameters as they are written."""
        node = self._file(path).bound[name][-1]
        if not isinstance(node, ast.FunctionDef):
            return {}
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        return {each.arg: ast.unparse(each.annotation) for each in every if each.annotation is not None}

    # Names ------------------------------------------------------------------------------------------------------------

    def take(self, path: str, name: str, alias: str, depth: int) -> None:
        """Bring a name of a module into the cut under an alias.

        Raises:
            Uncut: something that it stands on cannot be had.
        """
        if self._is_there(path, name, alias):
            return
        statements = self._file(path).bound.get(name)
        if not statements:
            self._left_out(alias, f"{path}:{name}", "the file does not say what it is")
            return
        if alias != name:
            self.take(path, name, name, depth)
            self._body.append(f"{alias} = {name}")
            return
        if any(isinstance(statement, ast.Import | ast.ImportFrom) for statement in statements):
            self._imported(path, name, statements, depth)
        elif isinstance(statements[-1], ast.FunctionDef | ast.ClassDef):
            self._defined(path, name, statements[-1], depth)
        else:
            self._valued(path, name, statements, depth)

    def _is_there(self, path: str, name: str, alias: str) -> bool:
        owner = self._owner.setdefault(alias, (path, name))
        if owner == (path, name) and alias in self._seen:
            return True
        if owner != (path, name):
            if self._same(owner, (path, name)):
                return True
            raise Uncut(f"both {':'.join(owner)} and {path}:{name} are called {alias}")
        self._seen.add(alias)
        if len(self._seen) > MOST_PIECES * 3:
            raise Uncut(f"it stands on more than {MOST_PIECES * 3} names")
        return False

    def _same(self, one: tuple[str, str], other: tuple[str, str]) -> bool:
        """Whether two names of two files mean one thing."""
        left, right = self._meanings(*one), self._meanings(*other)
        return bool(left) and left == right

    def _meanings(self, path: str, name: str) -> set[tuple[Kind, Ref | None, str]]:
        """What a name of a file means; what a function imports inside itself goes by its dotted name."""
        if (path, name) in self._inside:
            return {(Kind.OUTSIDE, None, name)}
        return {(each.kind, each.ref, each.text) for each in self._names.values(path, 0, name)}

    def _imported(self, path: str, name: str, statements: Sequence[ast.stmt], depth: int) -> None:
        for statement in statements:
            if isinstance(statement, ast.Import | ast.ImportFrom) and _library_of(statement) in KNOWN:
                self._imports.append(_import_of(statement, name))
                return
        values = self._names.values(path, 0, name)
        for value in values:
            if value.kind is Kind.DEFINITION and value.ref is not None:
                owner = self._names.scope_of(value.ref)
                if owner.parent == 0:
                    self._body_alias(value.ref.path, owner.name, name, depth)
                    return
        for value in values:
            if value.kind is Kind.OUTSIDE and value.text.split(".")[0] in KNOWN and _is_plain(value.text):
                self._imports.append(_import_as(value.text, name))
                self.replaced.append(f"{name} of {path} is {value.text} itself")
                return
        target = self._variable(path, statements)
        if target is not None:
            self._body_alias(*target, name, depth)
            return
        otherwise = [s for s in statements if isinstance(s, ast.Assign | ast.AnnAssign) and s.value is not None]
        if otherwise:  # `except ImportError: f = None`
            self.replaced.append(f"{name} of {path} is what the file takes where its import fails")
            self._valued(path, name, otherwise, depth)
            return
        self._left_out(name, f"{path}:{name}", "it is imported from what need not be there")

    def _body_alias(self, path: str, name: str, alias: str, depth: int) -> None:
        if alias == name:
            self._owner[alias] = (path, name)
            self._seen.discard(alias)
            self.take(path, name, name, depth)
        else:
            self.take(path, name, name, depth)
            self._body.append(f"{alias} = {name}")

    def _variable(self, path: str, statements: Sequence[ast.stmt]) -> tuple[str, str] | None:
        """The file and name of a variable that is imported from a module of the tree."""
        for statement in statements:
            if not isinstance(statement, ast.ImportFrom):
                continue
            table = self._names.tables[path]
            for item in table.outline.imports:
                if item.line != statement.lineno or not item.name:
                    continue
                module = self._module(path, item.module)
                for other in self._names.tables.values():
                    if other.module == module and item.name in self._file(other.path).bound:
                        return other.path, item.name
        return None

    def _module(self, path: str, text: str) -> str:
        stripped = text.lstrip(".")
        level = len(text) - len(stripped)
        if not level:
            return text
        package = self._names.tables[path].package.split(".")
        return ".".join([*package[: len(package) - level + 1], *filter(None, [stripped])])

    def _left_out(self, name: str, place: str, why: str) -> None:
        self._needs_left_out = True
        self._body.append(f"{name} = _LeftOut({place!r})")
        self.replaced.append(f"{place} is left out: {why}; using it ends the call")

    # Statements -------------------------------------------------------------------------------------------------------

    def _defined(self, path: str, name: str, node: ast.stmt, depth: int) -> None:
        stripped = self._stripped(path, node)
        self.taken.append(f"{path}:{name}")
        if len(self.taken) > MOST_PIECES:
            raise Uncut(f"it stands on more than {MOST_PIECES} definitions")
        for inner, module in stripped.imports:
            self._inner(path, inner, module, depth + 1)
        for free in stripped.free:
            self._free(path, free, depth + 1)
        self._body.append(ast.unparse(stripped.node))

    def _valued(self, path: str, name: str, statements: Sequence[ast.stmt], depth: int) -> None:
        """A variable of the module: what it is computed from comes with it, within bounds."""
        statement = statements[-1]
        stripped = self._stripped(path, statement)
        if depth > _DEEPEST_VALUE or (stripped.calls and depth > _DEEPEST_VALUE // 2):
            self._left_out(name, f"{path}:{name}", "it is computed when the module is imported")
            return
        before = self._kept()
        try:
            for free in stripped.free:
                if free != name:
                    self._free(path, free, depth + 1)
            is_whole = not (stripped.calls and any("_LeftOut(" in text for text in self._body[before.body :]))
        except Uncut:
            is_whole = False
        if not is_whole:
            self._forget(before)
            self._left_out(name, f"{path}:{name}", "it is computed when the module is imported")
            return
        self.taken.append(f"{path}:{name}")
        self._body.append(ast.unparse(stripped.node))

    def _kept(self) -> "_Kept":
        """How far the cut is."""
        sizes = (len(self._imports), len(self._body), len(self.taken), len(self.replaced))
        return _Kept(*sizes, dict(self._owner), set(self._seen))

    def _forget(self, before: "_Kept") -> None:
        """Go back to where the cut was."""
        del self._imports[before.imports :], self._body[before.body :]
        del self.taken[before.taken :], self.replaced[before.replaced :]
        self._owner, self._seen = before.owner, before.seen

    def _free(self, path: str, name: str, depth: int) -> None:
        if name in _BUILTINS and name not in self._file(path).bound:
            return
        self.take(path, name, name, depth)

    def _inner(self, path: str, alias: str, dotted: str, depth: int) -> None:
        """What a function imports inside itself."""
        module, _, name = dotted.rpartition(".")
        module = self._module(path, module)
        whole = f"{module}.{name}" if module else name
        if whole.split(".")[0] in KNOWN:
            binds_root = alias == whole.split(".")[0]  # `import a.b`
            self._inside.add((path, alias if binds_root else whole))
            if not self._is_there(path, alias if binds_root else whole, alias):
                self._imports.append(f"import {whole}" if binds_root else _import_as(whole, alias))
            return
        for value in self._names.absolute(f"{module}.{name}"):
            if value.kind is Kind.DEFINITION and value.ref is not None and self._names.scope_of(value.ref).parent == 0:
                self._body_alias(value.ref.path, self._names.scope_of(value.ref).name, alias, depth)
                return
        for other in self._names.tables.values():
            if module and other.module == module and name in self._file(other.path).bound:
                self._body_alias(other.path, name, alias, depth)
                return
        if self._owner.setdefault(alias, (path, dotted)) == (path, dotted) and alias not in self._seen:
            self._seen.add(alias)
            self._left_out(alias, dotted, "it is imported from what need not be there")

    def _stripped(self, path: str, node: ast.stmt) -> Stripped:
        stripped = strip(node, lambda name: self._is_discarded(path, name), lambda name: self._outside(path, name))
        self.replaced += [f"in {path}, {words}" for words in stripped.dropped]
        return stripped

    def _outside(self, path: str, name: str) -> str:
        """What a name of a file is outside of the tree, dotted; the name itself where it is nothing there."""
        values = self._names.values(path, 0, name)
        return next((each.text for each in values if each.kind is Kind.OUTSIDE), name)

    def _is_discarded(self, path: str, name: str) -> bool:
        """Whether calls of a name, their results unused, may be dropped: loggers and the like of the tree itself."""
        statements = self._file(path).bound.get(name, [])
        return bool(statements) and all(isinstance(s, ast.Assign) and isinstance(s.value, ast.Call) for s in statements)

    def _file(self, path: str) -> _File:
        if path not in self._files:
            made = self._files[path] = _File(path)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    tree = ast.parse(self._source(path))
            except (SyntaxError, ValueError, RecursionError) as error:
                raise Uncut(f"{path} cannot be parsed here: {type(error).__name__}") from None
            for statement in _top(tree.body):
                for name in bound_in(statement):
                    made.bound.setdefault(name, []).append(statement)
        return self._files[path]


_BUILTINS = frozenset(dir(builtins))


def _top(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, those under tests and in attempts as well; not those for type checkers alone."""
    for statement in body:
        match statement:
            case ast.If(test=test, body=then, orelse=otherwise):
                if "TYPE_CHECKING" not in names_in(test):
                    yield from _top(then)
                yield from _top(otherwise)
            case ast.Try(body=tried, handlers=handlers, orelse=otherwise, finalbody=last):
                yield from _top(tried)
                for handler in handlers:
                    yield from _top(handler.body)
                yield from _top([*otherwise, *last])
            case ast.With(body=inner):
                yield from _top(inner)
            case _:
                yield statement


def _is_plain(dotted: str) -> bool:
    """Whether a text only names something: no call, no subscript."""
    return all(part.isidentifier() for part in dotted.split("."))


def _library_of(statement: ast.stmt) -> str:
    match statement:
        case ast.Import(names=[alias, *_]):
            return alias.name.split(".")[0]
        case ast.ImportFrom(module=str(module), level=0):
            return module.split(".")[0]
        case _:
            return ""


def _import_of(statement: ast.stmt, name: str) -> str:
    """The part of an import statement that binds one name."""
    match statement:
        case ast.Import(names=aliases):
            kept = [a for a in aliases if (a.asname or a.name.split(".")[0]) == name]
            return "\n".join(ast.unparse(ast.Import([alias])) for alias in kept)
        case ast.ImportFrom(module=module, names=aliases, level=level):
            kept = [a for a in aliases if (a.asname or a.name) == name]
            return ast.unparse(ast.ImportFrom(module, kept, level))
        case _:
            return ""


def _import_as(dotted: str, name: str) -> str:
    module, _, last = dotted.rpartition(".")
    if not module:
        return f"import {last} as {name}" if last != name else f"import {last}"
    return f"from {module} import {last}" + (f" as {name}" if last != name else "")
