"""Python and Triton source of one function, through the standard parser, into Terms.

The parser sees the slice of one function only, and its tree is read with a table of small readers. What it refuses may
be newer than this Python: libcst reads that, at ten times the cost, and is brought to the same tree first.
"""

import ast
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from recon.index.compared import as_compare
from recon.index.inner import Helper
from recon.index.live import is_never_entered, live, taken
from recon.index.patterns import written_out
from recon.index.term import NONE, Term, name
from recon.index.unfold import STORES, unfolded

MAX_SLICE_BYTES = 400_000
"""libcst's time grows with the square of long chains: a larger function that only it could read is named as unread."""
_LONGEST_TEXT = 80
"""Characters of a string that are kept: a shape asks at most for short words."""

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "isnot",
    ast.In: "in",
    ast.NotIn: "notin",
}
_ONE_STRING = re.compile(
    rb"""[A-Za-z]*(?:'{3}(?:[^\\]|\\.)*?'{3}|"{3}(?:[^\\]|\\.)*?"{3}|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL
)
_BETWEEN = re.compile(rb"#[^\r\n]*|\s+")
_USUAL: Mapping[str, str] = {}
"""Every library is called what most call it."""


def read_function(
    source: bytes, first_line: int, libraries: Mapping[str, str] = _USUAL, helpers: Sequence[Helper] = ()
) -> Term:
    """The Term of the one function that a slice of a file holds.

    Args:
        source: The function's lines (UTF-8), at their own indentation, decorators left out.
        first_line: Line of the file where the slice starts, counted from 1.
        libraries: By a name that the file has for a library, the one that shapes know it by.
        helpers: Functions beside it that may stand in the place of their calls.

    Returns:
        A `def` Term whose lines are those of the file.

    Raises:
        ValueError: neither parser can read the slice, or it holds no function, or it is too large for libcst.
    """
    indented = source[:1] in (b" ", b"\t")
    # Not dedented: that would break functions with column-0 text inside triple quotes.
    text = (b"if 1:\n" if indented else b"") + source
    body = _parsed(text).body
    if indented and isinstance(body[0], ast.If):
        body = body[0].body
    function = next((node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)), None)
    if function is None:
        raise ValueError("no function in the slice")
    offset = first_line - (2 if indented else 1)
    reader = _Reader(text.splitlines(keepends=True), offset, libraries)
    read = reader.statement(function)
    return unfolded(read, helpers) if reader.holds_functions or helpers else read


def _parsed(text: bytes) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape is not our business
            return ast.parse(text)
    except (RecursionError, MemoryError) as error:
        raise ValueError(f"nests too deep to parse: {type(error).__name__}") from error
    except (SyntaxError, ValueError):
        return _newer(text)


def _newer(text: bytes) -> ast.Module:
    """What libcst reads, as a tree of the standard library."""
    if len(text) > MAX_SLICE_BYTES:
        raise ValueError(f"a function of {len(text)} bytes is over the limit of {MAX_SLICE_BYTES}")
    # Few trees need it, and it takes as long to import as all the rest of a scan that finds its answers kept.
    from recon.index.newer_tree import tree_of  # noqa: PLC0415

    return tree_of(text)


class _Reader:
    """Reads nodes into Terms; an expression has the line of its statement."""

    def __init__(self, lines: Sequence[bytes], offset: int, libraries: Mapping[str, str]) -> None:
        self.lines = lines
        self.offset = offset
        self.libraries = libraries
        self.now = self.depth = 0
        self.holds_functions = False
        """Whether anything could be written out: an inner function, a lambda, a store into a copy."""

    # Statements

    def block(self, body: Sequence[ast.stmt]) -> Term:
        """The statements of a suite, without those that carry no data flow or cannot run; one left out has line 0."""
        if not body:
            return _EMPTY
        parts = [part for statement in live(body) if (part := self.statement(statement)).op != "none"]
        return Term("block", "", tuple(parts), self.now)

    def statement(self, node: ast.stmt) -> Term:
        """One statement; `none` for those that carry no data flow (import, pass, global, del, class)."""
        line = self.now = node.lineno + self.offset
        reader = _STATEMENTS.get(node.__class__)
        return _at(reader(self, node), line) if reader else NONE

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Term:
        line, self.depth = self.now, self.depth + 1
        self.holds_functions = self.holds_functions or self.depth > 1
        body = self.block(node.body)
        self.depth -= 1
        return Term("def", node.name, (body, *self._parameters(node.args)), line)

    def _parameters(self, node: ast.arguments) -> list[Term]:
        return [name(each.arg, self.now) for each in (*node.posonlyargs, *node.args, *node.kwonlyargs)]

    def nonlocal_(self, node: ast.Nonlocal) -> Term:
        return Term("nonlocal", "", tuple(name(each, self.now) for each in node.names), self.now)

    def assign(self, node: ast.Assign) -> Term:
        return Term("assign", "", (*map(self.expression, node.targets), self.expression(node.value)), self.now)

    def ann_assign(self, node: ast.AnnAssign) -> Term:
        if node.value is None:
            return NONE
        return Term("assign", "", (self.expression(node.target), self.expression(node.value)), self.now)

    def aug_assign(self, node: ast.AugAssign) -> Term:
        operator = _BINARY.get(node.op.__class__, "?")
        return Term("assign", operator, (self.expression(node.target), self.expression(node.value)), self.now)

    def for_(self, node: ast.For | ast.AsyncFor) -> Term:
        line = self.now
        parts = (self.expression(node.target), self.expression(node.iter), self.block(node.body))
        return self._with_else(Term("for", "", parts, line), node.orelse)

    def while_(self, node: ast.While) -> Term:
        if is_never_entered(node):
            return self.block(node.orelse)
        line = self.now
        loop = Term("while", "", (self.expression(node.test), self.block(node.body)), line)
        return self._with_else(loop, node.orelse)

    def _with_else(self, loop: Term, orelse: Sequence[ast.stmt]) -> Term:
        if not orelse:
            return loop
        return Term("block", "", (loop, *self.block(orelse).parts), loop.line)

    def if_(self, node: ast.If) -> Term:
        if (branch := taken(node)) is not None:
            return self.block(branch)
        parts = (self.expression(node.test), self.block(node.body), self.block(node.orelse))
        return Term("if", "", parts, self.now)

    def try_(self, node: ast.Try | ast.TryStar) -> Term:
        suites = [node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody]
        parts = chain.from_iterable([self.block(suite).parts for suite in suites])
        return Term("block", "", tuple(parts), self.now)

    def with_(self, node: ast.With | ast.AsyncWith) -> Term:
        entered = []
        for item in node.items:
            value = self.expression(item.context_expr)
            if item.optional_vars is None:
                entered.append(Term("do", "", (value,), self.now))
            else:
                entered.append(Term("assign", "", (self.expression(item.optional_vars), value), self.now))
        return Term("block", "", (*entered, *self.block(node.body).parts), self.now)

    def match(self, node: ast.Match) -> Term:
        line, subject = self.now, self.expression(node.subject)
        read = [
            (each, self.expression(each.guard) if each.guard else None, self.block(each.body)) for each in node.cases
        ]
        return written_out(subject, read, self.expression, line)

    def return_(self, node: ast.Return) -> Term:
        return Term("return", "", () if node.value is None else (self.expression(node.value),), self.now)

    def effect(self, node: ast.Expr) -> Term:
        if node.value.__class__ in _CONSTANTS:  # documentation
            return NONE
        value = self.expression(node.value)
        return NONE if value.op == "const" else Term("do", "", (value,), self.now)

    def assert_(self, node: ast.Assert) -> Term:
        return Term("assert", "", (self.expression(node.test),), self.now)

    def raise_(self, node: ast.Raise) -> Term:
        return Term("raise", "", () if node.exc is None else (self.expression(node.exc),), self.now)

    def break_(self, _: ast.Break) -> Term:
        return Term("break", "", (), self.now)

    def continue_(self, _: ast.Continue) -> Term:
        return Term("continue", "", (), self.now)

    # Expressions

    def expression(self, node: ast.expr | None) -> Term:
        """One expression; `none` where there is none, `other` for syntax that no shape asks about."""
        if node is None:
            return NONE
        reader = _EXPRESSIONS.get(node.__class__)
        return reader(self, node) if reader else Term("other", type(node).__name__, (), self.now)

    def name(self, node: ast.Name) -> Term:
        return name(self.libraries.get(node.id, node.id), self.now)

    def constant(self, node: ast.Constant) -> Term:
        value = node.value
        is_named = value is None or value.__class__ is bool
        text = "..." if value is ... else str(value) if is_named else self._written(node)
        return Term("const", text, (), self.now)

    def joined(self, _: ast.JoinedStr) -> Term:
        return Term("const", "''", (), self.now)

    def _written(self, node: ast.Constant) -> str:
        """Source of a literal, long ones cut; of a string of several pieces an empty one."""
        source = self._source(node)
        if isinstance(node.value, str | bytes):
            one = _ONE_STRING.match(source)
            if one is None or one.end() != len(source):
                return "''"
            return source.decode()[:_LONGEST_TEXT]
        return source.decode()

    def _source(self, node: ast.expr) -> bytes:
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        if last == first + 1:
            return self.lines[first][node.col_offset : node.end_col_offset]
        rows = [self.lines[first][node.col_offset :], *self.lines[first + 1 : last - 1]]
        return b"".join([*rows, self.lines[last - 1][: node.end_col_offset]])

    def sequence(self, node: ast.Tuple | ast.List | ast.Set) -> Term:
        return Term("tuple", "", tuple(self.expression(_unstarred(item)) for item in node.elts), self.now)

    def attribute(self, node: ast.Attribute) -> Term:
        return Term("attr", node.attr, (self.expression(node.value),), self.now)

    def subscript(self, node: ast.Subscript) -> Term:
        key = node.slice
        keys = key.elts if isinstance(key, ast.Tuple) and self._is_bare(key) else [key]
        base = self.expression(node.value)
        return Term("index", "", (base, *(self.expression(_unstarred(each)) for each in keys)), self.now)

    def _is_bare(self, node: ast.Tuple) -> bool:
        """Whether the keys of a subscript stand without brackets around them: `x[a, b]`, not `x[(a, b)]`."""
        if not node.elts or not self._source(node).startswith(b"("):
            return bool(node.elts)
        first = node.elts[0]
        around = (node.lineno, node.col_offset)
        opened = self._between(around, (first.lineno, first.col_offset)).count(b"(")
        end = (first.end_lineno or first.lineno, first.end_col_offset or 0)
        after = self._between(end, (node.end_lineno or node.lineno, node.end_col_offset or 0))
        return opened == len(after) - len(after.lstrip(b")"))

    def _between(self, start: tuple[int, int], end: tuple[int, int]) -> bytes:
        """What stands between two places, without blanks and comments."""
        place = ast.Constant(None, lineno=start[0], col_offset=start[1], end_lineno=end[0], end_col_offset=end[1])
        return _BETWEEN.sub(b"", self._source(place))

    def slicing(self, node: ast.Slice) -> Term:
        parts = (self.expression(node.lower), self.expression(node.upper), self.expression(node.step))
        return Term("slice", "", parts, self.now)

    def call(self, node: ast.Call) -> Term:
        parts = [self.expression(node.func)]
        if isinstance(node.func, ast.Attribute) and node.func.attr in STORES:
            self.holds_functions = True
        arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        if node.args and node.keywords and isinstance(node.args[-1], ast.Starred):  # it may follow a keyword
            arguments.sort(key=lambda each: (each.lineno, each.col_offset))
        for argument in arguments:
            if isinstance(argument, ast.keyword):
                value = self.expression(argument.value)
                kind, text = ("star", "**") if argument.arg is None else ("kw", argument.arg)
                parts.append(Term(kind, text, (value,), value.line))
            elif isinstance(argument, ast.Starred):
                value = self.expression(argument.value)
                parts.append(Term("star", "*", (value,), value.line))
            else:
                parts.append(self.expression(argument))
        return as_compare(Term("call", "", tuple(parts), self.now))

    def binary(self, node: ast.BinOp) -> Term:
        operator = _BINARY.get(node.op.__class__, "?")
        return Term("op", operator, (self.expression(node.left), self.expression(node.right)), self.now)

    def unary(self, node: ast.UnaryOp) -> Term:
        value = self.expression(node.operand)
        if isinstance(node.op, ast.Not | ast.Invert):
            return Term("not", "", (value,), self.now)
        if isinstance(node.op, ast.UAdd):
            return value
        if value.op == "const":
            return Term("const", f"-{value.text}", (), value.line)
        return Term("neg", "", (value,), self.now)

    def boolean(self, node: ast.BoolOp) -> Term:
        word = "and" if isinstance(node.op, ast.And) else "or"
        first, *others = map(self.expression, node.values)
        for other in others:
            first = Term(word, "", (first, other), self.now)
        return first

    def comparison(self, node: ast.Compare) -> Term:
        left = self.expression(node.left)
        links = []
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.expression(comparator)
            links.append(Term("compare", _COMPARE.get(operator.__class__, "?"), (left, right), self.now))
            left = right
        return links[0] if len(links) == 1 else Term("and", "", tuple(links), self.now)

    def select(self, node: ast.IfExp) -> Term:
        parts = (self.expression(node.test), self.expression(node.body), self.expression(node.orelse))
        return Term("select", "", parts, self.now)

    def mapping(self, node: ast.Dict) -> Term:
        pairs = zip(node.keys, node.values, strict=True)
        return Term("dict", "", tuple(self.expression(part) for pair in pairs for part in pair), self.now)

    def lambda_(self, node: ast.Lambda) -> Term:
        self.holds_functions = True
        return Term("lambda", "", (self.expression(node.body), *self._parameters(node.args)), self.now)

    def named(self, node: ast.NamedExpr) -> Term:
        return Term("bind", "", (self.expression(node.target), self.expression(node.value)), self.now)

    def await_(self, node: ast.Await) -> Term:
        return self.expression(node.value)

    def yield_(self, node: ast.Yield | ast.YieldFrom) -> Term:
        return Term("yield", "", (self.expression(node.value),), self.now)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Term:
        if isinstance(node, ast.DictComp):
            element = Term("tuple", "", (self.expression(node.key), self.expression(node.value)), self.now)
        else:
            element = self.expression(node.elt)
        parts = [element]
        for clause in node.generators:
            parts += [self.expression(clause.target), self.expression(clause.iter)]
            parts += [Term("if", "", (self.expression(test),), self.now) for test in clause.ifs]
        return Term("comp", "", tuple(parts), self.now)


_EMPTY = Term("block")
_CONSTANTS = frozenset({ast.Constant, ast.JoinedStr})


def _at(statement: Term, line: int) -> Term:
    """A compound statement's own line: its body has moved the reader on."""
    return statement if statement.line == line else Term(statement.op, statement.text, statement.parts, line)


def _unstarred(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Starred) else node


# Tables instead of a visitor: one reader a node type, and what is in no table carries no data flow.
_STATEMENTS: dict[type[ast.stmt], Callable[..., Term]] = {
    ast.FunctionDef: _Reader.function,
    ast.AsyncFunctionDef: _Reader.function,
    ast.Assign: _Reader.assign,
    ast.AnnAssign: _Reader.ann_assign,
    ast.AugAssign: _Reader.aug_assign,
    ast.For: _Reader.for_,
    ast.AsyncFor: _Reader.for_,
    ast.While: _Reader.while_,
    ast.If: _Reader.if_,
    ast.Try: _Reader.try_,
    ast.TryStar: _Reader.try_,
    ast.With: _Reader.with_,
    ast.AsyncWith: _Reader.with_,
    ast.Match: _Reader.match,
    ast.Return: _Reader.return_,
    ast.Expr: _Reader.effect,
    ast.Assert: _Reader.assert_,
    ast.Raise: _Reader.raise_,
    ast.Break: _Reader.break_,
    ast.Continue: _Reader.continue_,
    ast.Nonlocal: _Reader.nonlocal_,
}
_EXPRESSIONS: dict[type[ast.expr], Callable[..., Term]] = {
    ast.Name: _Reader.name,
    ast.Constant: _Reader.constant,
    ast.JoinedStr: _Reader.joined,
    ast.Tuple: _Reader.sequence,
    ast.List: _Reader.sequence,
    ast.Set: _Reader.sequence,
    ast.Attribute: _Reader.attribute,
    ast.Subscript: _Reader.subscript,
    ast.Slice: _Reader.slicing,
    ast.Call: _Reader.call,
    ast.BinOp: _Reader.binary,
    ast.UnaryOp: _Reader.unary,
    ast.BoolOp: _Reader.boolean,
    ast.Compare: _Reader.comparison,
    ast.IfExp: _Reader.select,
    ast.Dict: _Reader.mapping,
    ast.Lambda: _Reader.lambda_,
    ast.NamedExpr: _Reader.named,
    ast.Await: _Reader.await_,
    ast.Yield: _Reader.yield_,
    ast.YieldFrom: _Reader.yield_,
    ast.ListComp: _Reader.comprehension,
    ast.SetComp: _Reader.comprehension,
    ast.GeneratorExp: _Reader.comprehension,
    ast.DictComp: _Reader.comprehension,
}
