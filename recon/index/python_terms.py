"""Python and Triton source of one function, through libcst, into Terms.

libcst is asked for the slice of one function only, since parsing costs about 1.8 s for each megabyte, and its tree is
read with a table of small readers instead of its visitor, which rebuilds every node. Its positions would cost as much
as the parse again: a statement's line comes from the standard parser's statements, which stand in the same order.
"""

from collections.abc import Callable, Iterator, Sequence

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from recon.index.statement_lines import statement_lines
from recon.index.term import NONE, Term, name

MAX_SLICE_BYTES = 400_000
"""libcst's time grows with the square of long chains; a larger function is reported, not read."""

_BINARY: dict[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.MatrixMultiply: "@",
    cst.BitAnd: "&",
    cst.BitOr: "|",
    cst.BitXor: "^",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
    cst.MatrixMultiplyAssign: "@",
    cst.BitAndAssign: "&",
    cst.BitOrAssign: "|",
    cst.BitXorAssign: "^",
    cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
}
_COMPARE: dict[type[cst.CSTNode], str] = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.Is: "is",
    cst.IsNot: "isnot",
    cst.In: "in",
    cst.NotIn: "notin",
}
_LITERALS = (cst.Integer, cst.Float, cst.Imaginary, cst.Ellipsis)
_STRINGS = (cst.SimpleString, cst.ConcatenatedString, cst.FormattedString)
_SEQUENCES = (cst.Tuple, cst.List, cst.Set)
_COMPREHENSIONS = (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)


def read_function(source: bytes, first_line: int) -> Term:
    """The Term of the one function that a slice of a file holds.

    Args:
        source: The function's lines (UTF-8), at their own indentation, decorators left out.
        first_line: Line of the file where the slice starts, counted from 1.

    Returns:
        A `def` Term whose lines are those of the file.

    Raises:
        ValueError: libcst cannot parse the slice, or it holds no function, or it is too large.
    """
    if len(source) > MAX_SLICE_BYTES:
        raise ValueError(f"a function of {len(source)} bytes is over the limit of {MAX_SLICE_BYTES}")
    indented = source[:1] in (b" ", b"\t")
    # Not dedented: that would break functions with column-0 text inside triple quotes.
    text = (b"if 1:\n" if indented else b"") + source
    offset = first_line - (2 if indented else 1)
    try:
        module = cst.parse_module(text)
    except (cst.ParserSyntaxError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"libcst refuses it: {type(error).__name__}") from error
    body: Sequence[cst.CSTNode] = module.body
    if indented and isinstance(body[0], cst.If):
        body = body[0].body.body
    function = next((node for node in body if isinstance(node, cst.FunctionDef)), None)
    if function is None:
        raise ValueError("no function in the slice")
    try:
        return _read(function, [line + offset for line in statement_lines(text)])
    except _Misaligned:
        spans = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
        statements = [node for node in _statements(function) if node in spans]
        return _read(function, [spans[node].start.line + offset for node in statements])


class _Misaligned(Exception):
    """The standard parser saw other statements than libcst, or none: its Python is older than the source."""


def _read(function: cst.FunctionDef, lines: list[int]) -> Term:
    reader = _Reader(iter(lines))
    term = reader.statement(function)
    if next(reader.lines, None) is not None:
        raise _Misaligned
    return term


def _statements(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Statements of libcst, in the order in which the reader meets them."""
    if isinstance(node, cst.BaseSmallStatement | cst.BaseCompoundStatement):
        yield node
    if not isinstance(node, cst.ClassDef):
        for child in node.children:
            yield from _statements(child)


class _Reader:
    """Reads libcst nodes into Terms."""

    def __init__(self, lines: Iterator[int]) -> None:
        self.lines = lines
        self._now = 0

    def _line(self, _: cst.CSTNode) -> int:
        return self._now

    # Statements

    def block(self, node: cst.CSTNode | None) -> Term:
        """The statements of a suite, flat."""
        if node is None:
            return Term("block")
        if isinstance(node, cst.Else | cst.Finally):
            node = node.body
        if isinstance(node, cst.If):  # an elif
            return Term("block", "", (self.statement(node),), self._line(node))
        if not isinstance(node, cst.BaseSuite):
            return Term("block")
        parts: list[Term] = []
        for statement in node.body:
            if isinstance(statement, cst.SimpleStatementLine):
                parts.extend(self.statement(small) for small in statement.body)
            else:
                parts.append(self.statement(statement))
        return Term("block", "", tuple(part for part in parts if part.op != "none"), self._line(node))

    def statement(self, node: cst.CSTNode) -> Term:
        """One statement; `none` for those that carry no data flow (import, pass, global, del, class)."""
        line = next(self.lines, None)
        if line is None:
            raise _Misaligned
        self._now = line
        reader = _STATEMENTS.get(type(node))
        return _at(reader(self, node), line) if reader else NONE

    def function(self, node: cst.FunctionDef) -> Term:
        return Term("def", node.name.value, (self.block(node.body),), self._line(node))

    def assign(self, node: cst.Assign) -> Term:
        targets = [self.expression(target.target) for target in node.targets]
        return Term("assign", "", (*targets, self.expression(node.value)), self._line(node))

    def ann_assign(self, node: cst.AnnAssign) -> Term:
        if node.value is None:
            return NONE
        return Term("assign", "", (self.expression(node.target), self.expression(node.value)), self._line(node))

    def aug_assign(self, node: cst.AugAssign) -> Term:
        operator = _BINARY.get(type(node.operator), "?")
        return Term("assign", operator, (self.expression(node.target), self.expression(node.value)), self._line(node))

    def for_(self, node: cst.For) -> Term:
        line = self._line(node)
        parts = (self.expression(node.target), self.expression(node.iter), self.block(node.body))
        return self._with_else(Term("for", "", parts, line), node.orelse)

    def while_(self, node: cst.While) -> Term:
        line = self._line(node)
        parts = (self.expression(node.test), self.block(node.body))
        return self._with_else(Term("while", "", parts, line), node.orelse)

    def _with_else(self, loop: Term, orelse: cst.Else | None) -> Term:
        if orelse is None:
            return loop
        return Term("block", "", (loop, *self.block(orelse).parts), loop.line)

    def if_(self, node: cst.If) -> Term:
        parts = (self.expression(node.test), self.block(node.body), self.block(node.orelse))
        return Term("if", "", parts, self._line(node))

    def try_(self, node: cst.Try | cst.TryStar) -> Term:
        parts = list(self.block(node.body).parts)
        for handler in node.handlers:
            parts.extend(self.block(handler.body).parts)
        parts.extend(self.block(node.orelse).parts)
        parts.extend(self.block(node.finalbody).parts)
        return Term("block", "", tuple(parts), self._line(node))

    def with_(self, node: cst.With) -> Term:
        entered = []
        for item in node.items:
            value = self.expression(item.item)
            if item.asname is None:
                entered.append(Term("do", "", (value,), self._line(node)))
            else:
                entered.append(Term("assign", "", (self.expression(item.asname.name), value), self._line(node)))
        return Term("block", "", (*entered, *self.block(node.body).parts), self._line(node))

    def match(self, node: cst.Match) -> Term:
        line = self._line(node)
        subject = self.expression(node.subject)
        branches = [Term("if", "match", (subject, self.block(case.body), Term("block")), line) for case in node.cases]
        return Term("block", "", tuple(branches), line)

    def return_(self, node: cst.Return) -> Term:
        parts = () if node.value is None else (self.expression(node.value),)
        return Term("return", "", parts, self._line(node))

    def effect(self, node: cst.Expr) -> Term:
        value = self.expression(node.value)
        return NONE if value.op == "const" else Term("do", "", (value,), self._line(node))

    def assert_(self, node: cst.Assert) -> Term:
        return Term("assert", "", (self.expression(node.test),), self._line(node))

    def raise_(self, node: cst.Raise) -> Term:
        parts = () if node.exc is None else (self.expression(node.exc),)
        return Term("raise", "", parts, self._line(node))

    def break_(self, node: cst.Break) -> Term:
        return Term("break", "", (), self._line(node))

    def continue_(self, node: cst.Continue) -> Term:
        return Term("continue", "", (), self._line(node))

    # Expressions

    def expression(self, node: cst.CSTNode | None) -> Term:
        """One expression; `none` where there is none, `other` for syntax that no shape asks about."""
        if node is None:
            return NONE
        if isinstance(node, cst.Name):
            return name(node.value, self._line(node))
        if isinstance(node, _LITERALS):
            return Term("const", getattr(node, "value", "..."), (), self._line(node))
        if isinstance(node, _STRINGS):
            return Term("const", _string_text(node), (), self._line(node))
        if isinstance(node, _SEQUENCES):
            return Term("tuple", "", tuple(self.expression(item.value) for item in node.elements), self._line(node))
        if isinstance(node, _COMPREHENSIONS):
            return self._comprehension(node)
        reader = _EXPRESSIONS.get(type(node))
        return reader(self, node) if reader else Term("other", type(node).__name__, (), self._line(node))

    def attribute(self, node: cst.Attribute) -> Term:
        return Term("attr", node.attr.value, (self.expression(node.value),), self._line(node))

    def subscript(self, node: cst.Subscript) -> Term:
        keys = [self.expression(element.slice) for element in node.slice]
        return Term("index", "", (self.expression(node.value), *keys), self._line(node))

    def index(self, node: cst.Index) -> Term:
        return self.expression(node.value)

    def slicing(self, node: cst.Slice) -> Term:
        parts = (self.expression(node.lower), self.expression(node.upper), self.expression(node.step))
        return Term("slice", "", parts, self._line(node))

    def call(self, node: cst.Call) -> Term:
        parts = [self.expression(node.func)]
        for argument in node.args:
            value = self.expression(argument.value)
            if argument.keyword is not None:
                value = Term("kw", argument.keyword.value, (value,), value.line)
            elif argument.star:
                value = Term("star", argument.star, (value,), value.line)
            parts.append(value)
        return _as_compare(Term("call", "", tuple(parts), self._line(node)))

    def binary(self, node: cst.BinaryOperation) -> Term:
        operator = _BINARY.get(type(node.operator), "?")
        return Term("op", operator, (self.expression(node.left), self.expression(node.right)), self._line(node))

    def unary(self, node: cst.UnaryOperation) -> Term:
        value = self.expression(node.expression)
        if isinstance(node.operator, cst.Not | cst.BitInvert):
            return Term("not", "", (value,), self._line(node))
        if isinstance(node.operator, cst.Plus):
            return value
        if value.op == "const":
            return Term("const", f"-{value.text}", (), value.line)
        return Term("neg", "", (value,), self._line(node))

    def boolean(self, node: cst.BooleanOperation) -> Term:
        word = "and" if isinstance(node.operator, cst.And) else "or"
        return Term(word, "", (self.expression(node.left), self.expression(node.right)), self._line(node))

    def comparison(self, node: cst.Comparison) -> Term:
        left = self.expression(node.left)
        links = []
        for target in node.comparisons:
            right = self.expression(target.comparator)
            word = _COMPARE.get(type(target.operator), "?")
            links.append(Term("compare", word, (left, right), self._line(node)))
            left = right
        return links[0] if len(links) == 1 else Term("and", "", tuple(links), self._line(node))

    def select(self, node: cst.IfExp) -> Term:
        parts = (self.expression(node.test), self.expression(node.body), self.expression(node.orelse))
        return Term("select", "", parts, self._line(node))

    def mapping(self, node: cst.Dict) -> Term:
        parts: list[Term] = []
        for element in node.elements:
            if isinstance(element, cst.DictElement):
                parts += [self.expression(element.key), self.expression(element.value)]
            else:
                parts += [NONE, self.expression(element.value)]
        return Term("dict", "", tuple(parts), self._line(node))

    def lambda_(self, node: cst.Lambda) -> Term:
        return Term("lambda", "", (self.expression(node.body),), self._line(node))

    def starred(self, node: cst.StarredElement) -> Term:
        return Term("star", "*", (self.expression(node.value),), self._line(node))

    def named(self, node: cst.NamedExpr) -> Term:
        return Term("bind", "", (self.expression(node.target), self.expression(node.value)), self._line(node))

    def await_(self, node: cst.Await) -> Term:
        return self.expression(node.expression)

    def yield_(self, node: cst.Yield) -> Term:
        value = node.value.item if isinstance(node.value, cst.From) else node.value
        return Term("yield", "", (self.expression(value),), self._line(node))

    def _comprehension(self, node: cst.CSTNode) -> Term:
        if isinstance(node, cst.DictComp):
            element = Term("tuple", "", (self.expression(node.key), self.expression(node.value)), self._line(node))
        elif isinstance(node, cst.ListComp | cst.GeneratorExp | cst.SetComp):
            element = self.expression(node.elt)
        else:
            return Term("other", type(node).__name__, (), self._line(node))
        parts = [element]
        clause: cst.CompFor | None = node.for_in
        while clause is not None:
            parts += [self.expression(clause.target), self.expression(clause.iter)]
            parts += [Term("if", "", (self.expression(test.test),), self._line(node)) for test in clause.ifs]
            clause = clause.inner_for_in
        return Term("comp", "", tuple(parts), self._line(node))


def _at(statement: Term, line: int) -> Term:
    """A compound statement's own line: its body has moved the reader on."""
    return statement if statement.line == line else Term(statement.op, statement.text, statement.parts, line)


def _as_compare(call: Term) -> Term:
    """`a.eq(b)` and `torch.eq(a, b)` are comparisons; so are their five kin."""
    function, *arguments = call.parts
    sign = _COMPARE_CALLS.get(function.text) if function.op == "attr" else None
    if sign is None or any(argument.op in ("kw", "star") for argument in arguments):
        return call
    sides = [function.parts[0], *arguments] if len(arguments) == 1 else arguments
    return Term("compare", sign, tuple(sides), call.line) if len(sides) == 2 else call


_COMPARE_CALLS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _string_text(node: cst.CSTNode) -> str:
    """Source of a literal, long ones cut: a shape asks at most for short words."""
    if isinstance(node, cst.SimpleString):
        return node.value[:80]
    return "''"


# Tables instead of a visitor: one reader a node type, and what is in no table carries no data flow.
_STATEMENTS: dict[type[cst.CSTNode], Callable[..., Term]] = {
    cst.FunctionDef: _Reader.function,
    cst.Assign: _Reader.assign,
    cst.AnnAssign: _Reader.ann_assign,
    cst.AugAssign: _Reader.aug_assign,
    cst.For: _Reader.for_,
    cst.While: _Reader.while_,
    cst.If: _Reader.if_,
    cst.Try: _Reader.try_,
    cst.TryStar: _Reader.try_,
    cst.With: _Reader.with_,
    cst.Match: _Reader.match,
    cst.Return: _Reader.return_,
    cst.Expr: _Reader.effect,
    cst.Assert: _Reader.assert_,
    cst.Raise: _Reader.raise_,
    cst.Break: _Reader.break_,
    cst.Continue: _Reader.continue_,
}
_EXPRESSIONS: dict[type[cst.CSTNode], Callable[..., Term]] = {
    cst.Attribute: _Reader.attribute,
    cst.Subscript: _Reader.subscript,
    cst.Index: _Reader.index,
    cst.Slice: _Reader.slicing,
    cst.Call: _Reader.call,
    cst.BinaryOperation: _Reader.binary,
    cst.UnaryOperation: _Reader.unary,
    cst.BooleanOperation: _Reader.boolean,
    cst.Comparison: _Reader.comparison,
    cst.IfExp: _Reader.select,
    cst.Dict: _Reader.mapping,
    cst.Lambda: _Reader.lambda_,
    cst.StarredElement: _Reader.starred,
    cst.NamedExpr: _Reader.named,
    cst.Await: _Reader.await_,
    cst.Yield: _Reader.yield_,
}
