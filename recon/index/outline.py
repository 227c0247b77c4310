"""The first pass over a file: bytes to records, through the parser of the standard library and one walk.

The walk keeps its own stacks, so that no depth of nesting ends it, and visits each node once: it costs about a third of
the parser's time. `recon.index.rescue` reads what this parser cannot.
"""

import ast
import re
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain

from msgspec.structs import replace

from recon.index import patterns, signs, spell
from recon.index.cuda_outline import outline_cuda
from recon.index.expressions import ExpressionReader, Frame
from recon.index.live import is_never_entered, live, taken, undefined_in
from recon.index.marks import EndBranch, EndFork, EndLoop, EndScope, Fork
from recon.index.records import Branch, Feature, Outline, Param, Parsed, Scope, ScopeKind
from recon.index.rescue import outline_by_lines, rescue

__all__ = ["outline_cuda", "outline_of_tree", "outline_python", "try_python"]

MOST_BYTES = 4_000_000
"""A syntax tree takes some hundred bytes for each byte of source, so a larger file is read by lines only."""
_LOOP, _NESTED, _BREAK = int(Feature.LOOP), int(Feature.NESTED_LOOP), int(Feature.BREAK)
_ENDLESS = int(Feature.ENDLESS)
_CHASE, _INDEX = int(Feature.CHASE), int(Feature.INDEX_BY_INDEX)
_CHOICE = re.compile(r"'|\.[A-Z][A-Z0-9_]*(?: |$)")
_FUNCTIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef})
_MANY = frozenset({ast.Subscript, ast.BinOp, ast.Constant})  # annotations that can name more than one class


def outline_python(data: bytes) -> Outline:
    """All records of a Python file. Never raises: what cannot be read is said in `parsed` and `problem`."""
    outline = try_python(data)
    return rescue(data, outline) if isinstance(outline, str) else outline


def try_python(data: bytes) -> Outline | str:
    """All records of a Python file, or why the standard parser cannot read it."""
    if len(data) > MOST_BYTES:
        return outline_by_lines(data, f"{len(data)} bytes: too large to parse")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is not our business
            tree = compile(data, "<source>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
    except (RecursionError, MemoryError):  # libcst would be stopped at its wall limit, or die: 20 s a file
        return outline_by_lines(data, "nests too deep to parse")
    except (ValueError, OverflowError) as error:
        return str(error) or type(error).__name__
    assert isinstance(tree, ast.Module)
    return outline_of_tree(tree, data)


def outline_of_tree(tree: ast.Module, data: bytes, parsed: Parsed = Parsed.FULL, problem: str = "") -> Outline:
    """All records of a syntax tree; `data` is its source, in UTF-8 where defaults are to be quoted."""
    reader = _Reader(tree, data)
    reader.read()
    reader.settle_lambdas()
    return Outline(
        parsed,
        problem,
        tuple(reader.scopes),
        tuple(reader.calls),
        tuple(reader.imports),
        tuple(reader.binds),
        tuple(reader.texts),
        tuple(reader.branches),
    )


class _Reader(ExpressionReader):
    """One walk over one tree. Statements wait on one stack, the expressions of a statement on another."""

    def __init__(self, tree: ast.Module, data: bytes) -> None:
        super().__init__(data, Frame(0, tree, None, jit=False))
        self.todo: list[object] = [_END_SCOPE, *reversed(tree.body)]
        self.heads: dict[ast.stmt, int] = {}  # of each elif that waits: the line of the first test of its chain
        self.undefined: set[ast.AST] = set()  # definitions that no run makes
        self.forks: list[tuple[Fork, int, int, int]] = []  # with how much was known where the body begins
        self.scopes.append(_scope(0, -1, ScopeKind.MODULE, "", tree))

    def read(self) -> None:
        """Walk the whole tree."""
        pop = self.todo.pop
        while self.todo:
            node = pop()
            statement = _STATEMENTS.get(node.__class__)
            if statement is not None:
                statement(self, node)

    def push(self, body: Sequence[ast.stmt]) -> None:
        """Leave statements to be read next, in source order; of a function's those that can run."""
        self.todo += reversed(live(body) if self.frame.node.__class__ in _FUNCTIONS else body)

    # Scopes -----------------------------------------------------------------------------------------------------------

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Open the scope of a function; what its `def` evaluates belongs to the scope around it."""
        arguments = node.args
        self.walk([*node.decorator_list, *arguments.defaults, *arguments.kw_defaults])
        decorators = tuple(filter(None, map(spell.decorator, node.decorator_list)))
        scope = len(self.scopes)
        self.scopes.append(
            _scope(
                scope,
                self.frame.id,
                ScopeKind.FUNCTION,
                node.name,
                node,
                params=self.params(arguments),
                decorators=decorators,
                returns=spell.annotation(node.returns),
                around=self.frame.around,
            )
        )
        self.here = scope
        self.frame = Frame(scope, node, self.frame, jit=any(map(signs.is_kernel_decorator, decorators)))
        self.annotations(arguments, node.returns)
        self.todo.append(_END_SCOPE)
        self.push(node.body)

    def annotations(self, arguments: ast.arguments, returns: ast.expr | None) -> None:
        """Record what a parameter's annotation says beyond its one class, and the strings that it allows."""
        for arg in chain(arguments.posonlyargs, arguments.args, arguments.kwonlyargs) if self.noted else ():
            names = self.noted.get(arg, ())
            if arg.annotation.__class__ not in _MANY:
                continue
            if len(names) > 1 or any(suffix for suffix, _ in names):
                for suffix, name in names:
                    self.add_bind(arg.arg + suffix, "", name, arg.lineno)
            self.allow(arg.annotation)
        self.noted.clear()
        self.allow(returns)

    def allow(self, annotation: ast.expr | None) -> None:
        """Keep the strings of a `Literal` annotation."""
        if annotation is None or annotation.__class__ not in _MANY:
            return
        for text in spell.choices(annotation):
            self.text(text, "value", annotation.lineno)

    def a_class(self, node: ast.ClassDef) -> None:
        """Open the scope of a class."""
        self.walk([*node.decorator_list, *node.bases, *node.keywords])
        scope = len(self.scopes)
        self.scopes.append(
            _scope(
                scope,
                self.frame.id,
                ScopeKind.CLASS,
                node.name,
                node,
                bases=tuple(filter(None, map(spell.base, node.bases))),
                decorators=tuple(filter(None, map(spell.decorator, node.decorator_list))),
                around=self.frame.around,
            )
        )
        self.here = scope
        self.frame = Frame(scope, node, self.frame, jit=False)
        self.todo.append(_END_SCOPE)
        self.push(node.body)

    def end_scope(self, _: EndScope) -> None:
        """Close a scope: its signs are known now."""
        frame = self.frame
        if frame.bits and frame.node not in self.undefined:
            self.scopes[frame.id] = replace(self.scopes[frame.id], features=_features(frame.bits))
        if frame.outer is not None:
            self.frame = frame.outer
            self.here = frame.outer.id

    def under(self, around: int) -> None:
        """Note what stands around the statements that are pushed next."""
        outside = self.frame.around
        if outside <= 0 and outside != around:
            self.todo.append(EndBranch(outside))
            self.frame.around = around

    def end_branch(self, node: EndBranch) -> None:
        """Leave what ran under a condition."""
        self.frame.around = node.outside

    # Statements -------------------------------------------------------------------------------------------------------

    def expression(self, node: ast.Expr) -> None:
        """Read an expression that stands alone; a string there is documentation."""
        if node.value.__class__ is not ast.Constant:
            self.read_all([node.value])

    def returning(self, node: ast.Return) -> None:
        """Read a return; inside a loop it breaks it."""
        if self.frame.loops:
            self.frame.bits |= _BREAK
        if node.value is not None:
            self.read_all([node.value])
            if node.value.__class__ is ast.Constant:
                return
            for suffix, text in spell.values(node.value):
                self.add_bind("return" + suffix, text, "", node.lineno)

    def breaking(self, _: ast.Break) -> None:
        """Note a break."""
        self.frame.bits |= _BREAK

    def assign(self, node: ast.Assign) -> None:
        """Read `a = b = value`."""
        self.fresh(node)
        value, frame = node.value, self.frame
        self.read_all([value])
        if frame.loops or frame.loaded or self.loads:
            self.flow(node.targets, value, self.names)
        for target in node.targets:
            self.bind(target, value)
            if target.__class__ is not ast.Name:
                self.store(target)

    def annotate(self, node: ast.AnnAssign) -> None:
        """Read `a: note = value`."""
        self.fresh(node)
        if node.value is not None:
            self.read_all([node.value])
            self.flow([node.target], node.value, self.names)
        self.bind(node.target, node.value, node.annotation)
        self.store(node.target)
        self.allow(node.annotation)

    def augment(self, node: ast.AugAssign) -> None:
        """Read `a += value`."""
        self.fresh(node)
        self.operator(node.op, node.target, node.value)
        self.read_all([node.value])
        self.flow([node.target], None, self.names, plain=False)
        self.store(node.target)

    def branch(self, node: ast.If) -> None:
        """Read an if; of a function's branches not the one that a constant keeps from running."""
        branch = taken(node) if self.frame.node.__class__ in _FUNCTIONS else None
        if branch is not None:
            self.push(branch)
            return
        self.undefined.update(undefined_in(node))
        self.read_all([node.test])
        self.under(-1)
        head = self.heads.pop(node, node.lineno)
        if len(node.orelse) == 1 and node.orelse[0].__class__ is ast.If:
            self.heads[node.orelse[0]] = head
            self.push(node.orelse)
        elif node.orelse:
            self.fork(Fork("", head, node.orelse[0].lineno, node.orelse), node.orelse)
        self.fork(Fork(" ".join(spell.asked(node.test)), head, node.lineno, node.body), node.body)

    def fork(self, fork: Fork, body: Sequence[ast.stmt]) -> None:
        """Leave a body that runs if a test holds."""
        self.todo.append(_END_FORK)
        self.push(body)
        self.todo.append(fork)

    def open_fork(self, fork: Fork) -> None:
        """Enter such a body."""
        self.forks.append((fork, len(self.calls), len(self.imports), len(self.binds)))

    def end_fork(self, _: EndFork) -> None:
        """Leave it: whether it names a class is known now."""
        fork, calls, imports, binds = self.forks.pop()
        if (
            _CHOICE.search(fork.branch[0])
            or any(map(signs.names_class, [call.callee for call in self.calls[calls:]]))
            or any(map(signs.names_class, [item.name for item in self.imports[imports:]]))
            or any(map(signs.names_class, [bind.value for bind in self.binds[binds:]]))
        ):
            self.branches.append(Branch(self.frame.id, *fork.branch))

    def open_loop(self, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt], ends: set[str]) -> None:
        """Enter a loop, of which what stands around it is noted; its `else` lies outside."""
        frame = self.frame
        frame.bits |= _NESTED | _LOOP if frame.loops else _LOOP
        frame.loops.append(signs.Loop(ends))
        self.push(orelse)
        self.todo.append(_END_LOOP)
        self.push(body)

    def end_loop(self, _: EndLoop) -> None:
        """Leave a loop: what it carries from round to round is known now."""
        loop = self.frame.loops.pop()
        if loop.is_chase():
            self.frame.bits |= _CHASE
        if not loop.addresses.isdisjoint(self.frame.loaded):
            self.frame.bits |= _INDEX

    def for_loop(self, node: ast.For | ast.AsyncFor) -> None:
        """Read a for."""
        self.read_all([node.iter])
        self.frame.loaded.difference_update(spell.target_names(node.target))
        self.under(node.lineno)
        self.bind_element(node.target, node.iter)
        self.open_loop(node.body, node.orelse, set())
        self.store(node.target)

    def while_loop(self, node: ast.While) -> None:
        """Read a while."""
        if is_never_entered(node):
            self.push(node.orelse)
            return
        self.under(node.lineno)
        if signs.is_endless(node.test):
            self.frame.bits |= _ENDLESS
        self.open_loop(node.body, node.orelse, signs.ends_walk(node.test))
        self.read_all([node.test])

    def with_block(self, node: ast.With | ast.AsyncWith) -> None:
        """Read a with."""
        for item in node.items:
            self.read_all([item.context_expr])
            if text := spell.dotted(item.context_expr):
                self.add_bind("with", text, "", node.lineno)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, item.context_expr)
        self.push(node.body)

    def trying(self, node: ast.Try | ast.TryStar) -> None:
        """Read a try."""
        self.push(node.finalbody)
        self.under(-1)
        self.push(node.orelse)
        for handler in reversed(node.handlers):
            self.push(handler.body)
            self.walk([handler.type])
        self.push(node.body)

    def match(self, node: ast.Match) -> None:
        """Read a match: a literal pattern is a comparison, a name in one an assignment."""
        self.read_all([node.subject])
        self.flow(patterns.captures(node), node.subject, self.names)
        self.under(-1)
        for case in reversed(node.cases):
            self.walk([case.guard])
            values = patterns.compared(case.pattern)
            rest: list[ast.AST] = []
            self.texts_of(values, "compare", rest)
            self.walk(rest)
            asked = " ".join(chain.from_iterable(map(spell.asked, values)))
            self.fork(Fork(asked, node.lineno, (values or case.body)[0].lineno, case.body), case.body)

    def plain(self, node: ast.Assert | ast.Raise | ast.Delete) -> None:
        """Read a statement that only uses expressions."""
        match node:
            case ast.Assert():
                self.walk([node.test, node.msg])
            case ast.Raise():
                self.walk([node.exc, node.cause])
                if isinstance(node.exc, ast.Name | ast.Attribute):
                    self.add_bind("raise", spell.dotted(node.exc), "", node.lineno)
            case ast.Delete():
                self.walk(node.targets)

    def imported(self, node: ast.Import) -> None:
        """Record `import a.b as c`."""
        for name in node.names:
            alias = name.asname or name.name.partition(".")[0]
            self.add_import(name.name, "", alias, node.lineno)

    def imported_from(self, node: ast.ImportFrom) -> None:
        """Record `from .a import b as c`."""
        module = "." * node.level + (node.module or "")
        for name in node.names:
            alias = name.asname or name.name
            self.add_import(module, name.name, alias, node.lineno)

    def elsewhere(self, node: ast.Global | ast.Nonlocal) -> None:
        """Note names that belong to another scope."""
        outer = self.frame.outer
        owner = 0 if isinstance(node, ast.Global) or outer is None else outer.id
        self.frame.globals.update(dict.fromkeys(node.names, owner))


@cache
def _features(bits: int) -> Feature:
    """The flags of some bits: files have few sets of them, and a flag is slow to make."""
    return Feature(bits)


_NONE = Feature(0)


def _scope(
    scope: int,
    parent: int,
    kind: ScopeKind,
    name: str,
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef,
    *,
    params: tuple[Param, ...] = (),
    bases: tuple[str, ...] = (),
    decorators: tuple[str, ...] = (),
    returns: str = "",
    around: int = 0,
) -> Scope:
    """A scope whose signs are not known yet."""
    line = first = 1
    if isinstance(node, ast.Module):
        last = node.body[-1].end_lineno if node.body else 1
    else:
        line = first = node.lineno
        last = node.end_lineno
        if node.decorator_list:
            first = min(line, node.decorator_list[0].lineno)
    last = last or line
    return Scope(scope, parent, kind, name, line, first, last, _NONE, params, bases, decorators, returns, around)


_END_SCOPE, _END_FORK, _END_LOOP = EndScope(), EndFork(), EndLoop()
_STATEMENTS: dict[type, Callable[..., None]] = {
    EndLoop: _Reader.end_loop,
    Fork: _Reader.open_fork,
    EndFork: _Reader.end_fork,
    EndScope: _Reader.end_scope,
    EndBranch: _Reader.end_branch,
    ast.FunctionDef: _Reader.function,
    ast.AsyncFunctionDef: _Reader.function,
    ast.ClassDef: _Reader.a_class,
    ast.Expr: _Reader.expression,
    ast.Return: _Reader.returning,
    ast.Break: _Reader.breaking,
    ast.Assign: _Reader.assign,
    ast.AnnAssign: _Reader.annotate,
    ast.AugAssign: _Reader.augment,
    ast.If: _Reader.branch,
    ast.For: _Reader.for_loop,
    ast.AsyncFor: _Reader.for_loop,
    ast.While: _Reader.while_loop,
    ast.With: _Reader.with_block,
    ast.AsyncWith: _Reader.with_block,
    ast.Try: _Reader.trying,
    ast.TryStar: _Reader.trying,
    ast.Match: _Reader.match,
    ast.Assert: _Reader.plain,
    ast.Raise: _Reader.plain,
    ast.Delete: _Reader.plain,
    ast.Import: _Reader.imported,
    ast.ImportFrom: _Reader.imported_from,
    ast.Global: _Reader.elsewhere,
    ast.Nonlocal: _Reader.elsewhere,
}
