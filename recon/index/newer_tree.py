"""The tree that libcst reads, brought to the tree of the standard library that the first pass walks."""

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from recon.index.newer_patterns import pattern_of
from recon.index.rescue import DEEPEST_BRACKETS, bracket_depth

_Placed = TypeVar("_Placed", ast.expr, ast.stmt, ast.arg, ast.keyword)
_NEWLINE = re.compile(r"\r\n|\r|\n")


def tree_of(text: bytes) -> ast.Module:
    """The tree of a text.

    Raises:
        ValueError: libcst cannot read it, or would not live to tell.
    """
    if bracket_depth(text) > DEEPEST_BRACKETS:
        raise ValueError("brackets nest too deep for libcst")
    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        return Convert(wrapper.resolve(PositionProvider), text).module(wrapper.module)
    except (cst.ParserSyntaxError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"libcst refuses it: {type(error).__name__}") from error


class Convert:
    """libcst nodes to nodes of `ast`: whatever the first pass reads, and nothing else."""

    def __init__(self, places: Mapping[cst.CSTNode, CodeRange], source: bytes) -> None:
        self.places = places
        self.lines = _NEWLINE.split(source.decode())

    def place(self, node: _Placed, origin: cst.CSTNode) -> _Placed:
        """Give a node the place of the one it was made from."""
        span = self.places[origin]
        if isinstance(origin, cst.Tuple) and origin.lpar:  # to libcst brackets lie outside
            span = CodeRange(self.places[origin.lpar[-1]].start, self.places[origin.rpar[0]].end)
        node.lineno, node.end_lineno = span.start.line, span.end.line
        node.col_offset = self.column(span.start.line, span.start.column)
        node.end_col_offset = self.column(span.end.line, span.end.column)
        return node

    def column(self, line: int, column: int) -> int:
        """A column of libcst, which counts characters, in bytes."""
        if line > len(self.lines):
            return column
        return len(self.lines[line - 1][:column].encode())

    def module(self, node: cst.Module) -> ast.Module:
        """A whole file."""
        return ast.Module(self.body(node.body), [])

    # Statements -------------------------------------------------------------------------------------------------------

    def body(self, nodes: Iterable[cst.CSTNode]) -> list[ast.stmt]:
        """Statements in order; those on one line are one each."""
        statements: list[ast.stmt] = []
        for node in nodes:
            parts = node.body if isinstance(node, cst.SimpleStatementLine) else [node]
            known = [(part, _STATEMENTS[type(part)]) for part in parts if type(part) in _STATEMENTS]
            statements += [self.place(convert(self, part), part) for part, convert in known]
        return statements

    def suite(self, node: "cst.BaseSuite | cst.Else | cst.Finally | None") -> list[ast.stmt]:
        """The statements of an indented block, or after a colon."""
        if node is None:
            return []
        inner = node.body
        if isinstance(inner, cst.BaseSuite):
            return self.suite(inner)
        return self.body(inner)

    def function(self, node: cst.FunctionDef) -> ast.stmt:
        """`def`; its line is that of the name, since decorators lie above."""
        kind: type[ast.FunctionDef | ast.AsyncFunctionDef] = (
            ast.AsyncFunctionDef if node.asynchronous else ast.FunctionDef
        )
        return kind(
            name=node.name.value,
            args=self.arguments(node.params),
            body=self.suite(node.body),
            decorator_list=[self.expr(decorator.decorator) for decorator in node.decorators],
            returns=self.annotation(node.returns),
        )

    def a_class(self, node: cst.ClassDef) -> ast.stmt:
        """`class`."""
        return ast.ClassDef(
            name=node.name.value,
            bases=[self.expr(base.value) for base in node.bases],
            keywords=[self.keyword(keyword) for keyword in node.keywords],
            body=self.suite(node.body),
            decorator_list=[self.expr(decorator.decorator) for decorator in node.decorators],
        )

    def branch(self, node: cst.If) -> ast.stmt:
        """`if` and `elif`."""
        orelse = self.body([node.orelse]) if isinstance(node.orelse, cst.If) else self.suite(node.orelse)
        return ast.If(self.expr(node.test), self.suite(node.body), orelse)

    def for_loop(self, node: cst.For) -> ast.stmt:
        """`for`."""
        return ast.For(self.expr(node.target), self.expr(node.iter), self.suite(node.body), self.suite(node.orelse))

    def while_loop(self, node: cst.While) -> ast.stmt:
        """`while`."""
        return ast.While(self.expr(node.test), self.suite(node.body), self.suite(node.orelse))

    def with_block(self, node: cst.With) -> ast.stmt:
        """`with`."""
        items = [
            ast.withitem(self.expr(item.item), self.maybe(item.asname.name if item.asname else None))
            for item in node.items
        ]
        return ast.With(items, self.suite(node.body))

    def trying(self, node: cst.Try | cst.TryStar) -> ast.stmt:
        """`try`, with `except` or `except*`."""
        handlers = [
            ast.ExceptHandler(self.maybe(handler.type), None, self.suite(handler.body)) for handler in node.handlers
        ]
        return ast.Try(self.suite(node.body), handlers, self.suite(node.orelse), self.suite(node.finalbody))

    def match(self, node: cst.Match) -> ast.stmt:
        """`match`."""
        cases = [
            ast.match_case(pattern_of(case.pattern, self.expr), self.maybe(case.guard), self.suite(case.body))
            for case in node.cases
        ]
        return ast.Match(self.expr(node.subject), cases)

    def annotated(self, node: cst.AnnAssign) -> ast.stmt:
        """`a: note = value`."""
        target = self.expr(node.target)
        assert isinstance(target, ast.Name | ast.Attribute | ast.Subscript)
        note = self.expr(node.annotation.annotation)
        return ast.AnnAssign(target, note, self.maybe(node.value), int(isinstance(target, ast.Name)))

    def imported(self, node: cst.Import) -> ast.stmt:
        """`import a.b as c`."""
        return ast.Import([_alias(name) for name in node.names])

    def imported_from(self, node: cst.ImportFrom) -> ast.stmt:
        """`from .a import b as c`."""
        names = [ast.alias("*", None)] if isinstance(node.names, cst.ImportStar) else [_alias(n) for n in node.names]
        return ast.ImportFrom(_dotted(node.module) if node.module else None, names, len(node.relative))

    # Expressions ------------------------------------------------------------------------------------------------------

    def maybe(self, node: cst.CSTNode | None) -> ast.expr | None:
        """An expression that may be left out."""
        return None if node is None else self.expr(node)

    def expr(self, node: cst.CSTNode) -> ast.expr:
        """An expression; one of an unknown kind becomes the tuple of the expressions below it."""
        convert = _EXPRESSIONS.get(type(node))
        made = convert(self, node) if convert is not None else self.several(node.children)
        return self.place(made, node)

    def several(self, nodes: Iterable[cst.CSTNode]) -> ast.expr:
        """Expressions of which only the parts matter."""
        return ast.Tuple([self.expr(node) for node in nodes if type(node) in _EXPRESSIONS], ast.Load())

    def name(self, node: cst.Name) -> ast.expr:
        """A name, or one of the three constants that libcst holds as names."""
        constants: dict[str, bool | None] = {"True": True, "False": False, "None": None}
        if node.value in constants:
            return ast.Constant(constants[node.value])
        return ast.Name(node.value, ast.Load())

    def string(self, node: cst.ConcatenatedString | cst.SimpleString) -> ast.expr:
        """A string, possibly of several pieces, some of which may hold expressions."""
        if (value := node.evaluated_value) is not None or isinstance(node, cst.SimpleString):
            return ast.Constant(value)
        return ast.JoinedStr([self.expr(node.left), self.expr(node.right)])

    def joined(self, node: cst.FormattedString | cst.TemplatedString) -> ast.expr:
        """The expressions of an f-string or t-string."""
        parts = [part for part in node.children if isinstance(part, _INSERTED)]
        return ast.JoinedStr([ast.FormattedValue(self.expr(part.expression), -1, self.format(part)) for part in parts])

    def format(self, node: "cst.FormattedStringExpression | cst.TemplatedStringExpression") -> ast.JoinedStr | None:
        """What a format after a colon inserts in its turn."""
        parts = [part for part in node.format_spec or () if isinstance(part, _INSERTED)]
        return ast.JoinedStr([ast.FormattedValue(self.expr(part.expression), -1) for part in parts]) if parts else None

    def call(self, node: cst.Call) -> ast.expr:
        """A call; `**x` is a keyword without a name."""
        args: list[ast.expr] = []
        keywords: list[ast.keyword] = []
        for arg in node.args:
            if arg.keyword is not None or arg.star == "**":
                keywords.append(self.keyword(arg))
            else:
                value = self.expr(arg.value)
                args.append(self.place(ast.Starred(value, ast.Load()), arg) if arg.star else value)
        return ast.Call(self.expr(node.func), args, keywords)

    def keyword(self, node: cst.Arg) -> ast.keyword:
        """A keyword argument."""
        return self.place(ast.keyword(node.keyword.value if node.keyword else None, self.expr(node.value)), node)

    def subscript(self, node: cst.Subscript) -> ast.expr:
        """A subscript with one key or several."""
        keys = [self.key(element.slice) for element in node.slice]
        key = keys[0] if len(keys) == 1 and not isinstance(node.slice[0].comma, cst.Comma) else None
        if key is None:
            key = self.place(ast.Tuple(keys, ast.Load()), node)
            key.lineno, key.col_offset = keys[0].lineno, keys[0].col_offset  # as the standard parser has it
            key.end_lineno, key.end_col_offset = keys[-1].end_lineno, keys[-1].end_col_offset
        return ast.Subscript(self.expr(node.value), key, ast.Load())

    def key(self, node: cst.BaseSlice) -> ast.expr:
        """One key of a subscript."""
        if isinstance(node, cst.Index):
            return self.expr(node.value)
        assert isinstance(node, cst.Slice)
        return self.place(ast.Slice(self.maybe(node.lower), self.maybe(node.upper), self.maybe(node.step)), node)

    def binary(self, node: cst.BinaryOperation) -> ast.expr:
        """Arithmetic."""
        return ast.BinOp(self.expr(node.left), _operator(node.operator), self.expr(node.right))

    def unary(self, node: cst.UnaryOperation) -> ast.expr:
        """`not x`, `-x`, `+x`, `~x`."""
        return ast.UnaryOp(_UNARY[type(node.operator)](), self.expr(node.expression))

    def boolean(self, node: cst.BooleanOperation) -> ast.expr:
        """`and` and `or`."""
        operator = ast.And() if isinstance(node.operator, cst.And) else ast.Or()
        return ast.BoolOp(operator, [self.expr(node.left), self.expr(node.right)])

    def comparison(self, node: cst.Comparison) -> ast.expr:
        """A chain of comparisons."""
        operators = [_COMPARE[type(part.operator)]() for part in node.comparisons]
        return ast.Compare(self.expr(node.left), operators, [self.expr(part.comparator) for part in node.comparisons])

    def elements(self, nodes: Sequence[cst.BaseElement]) -> list[ast.expr]:
        """The elements of a display."""
        return [
            self.place(ast.Starred(self.expr(node.value), ast.Load()), node)
            if isinstance(node, cst.StarredElement)
            else self.expr(node.value)
            for node in nodes
        ]

    def dictionary(self, node: cst.Dict) -> ast.expr:
        """A dictionary display; `**x` has no key."""
        keys = [self.expr(part.key) if isinstance(part, cst.DictElement) else None for part in node.elements]
        return ast.Dict(keys, [self.expr(part.value) for part in node.elements])

    def generators(self, node: cst.CompFor | None) -> list[ast.comprehension]:
        """The `for` parts of a comprehension."""
        found = []
        while node is not None:
            ifs = [self.expr(part.test) for part in node.ifs]
            found.append(ast.comprehension(self.expr(node.target), self.expr(node.iter), ifs, 0))
            node = node.inner_for_in
        return found

    def yielded(self, node: cst.Yield) -> ast.expr:
        """`yield` and `yield from`."""
        if isinstance(node.value, cst.From):
            return ast.YieldFrom(self.expr(node.value.item))
        return ast.Yield(self.maybe(node.value))

    def annotation(self, node: cst.Annotation | None) -> ast.expr | None:
        """An annotation."""
        return None if node is None else self.expr(node.annotation)

    def arguments(self, node: cst.Parameters) -> ast.arguments:
        """The parameters of a function or lambda."""

        def arg(param: cst.Param) -> ast.arg:
            return self.place(ast.arg(param.name.value, self.annotation(param.annotation)), param)

        named = [*node.posonly_params, *node.params]
        return ast.arguments(
            posonlyargs=[arg(param) for param in node.posonly_params],
            args=[arg(param) for param in node.params],
            vararg=arg(node.star_arg) if isinstance(node.star_arg, cst.Param) else None,
            kwonlyargs=[arg(param) for param in node.kwonly_params],
            kw_defaults=[self.maybe(param.default) for param in node.kwonly_params],
            kwarg=arg(node.star_kwarg) if node.star_kwarg else None,
            defaults=[self.expr(param.default) for param in named if param.default is not None],
        )


_INSERTED = (cst.FormattedStringExpression, cst.TemplatedStringExpression)


def _dotted(node: cst.CSTNode) -> str:
    parts = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    assert isinstance(node, cst.Name)
    return ".".join(reversed([*parts, node.value]))


def _alias(node: cst.ImportAlias) -> ast.alias:
    asname = node.asname.name if node.asname else None
    return ast.alias(_dotted(node.name), asname.value if isinstance(asname, cst.Name) else None)


def _operator(node: cst.BaseBinaryOp | cst.BaseAugOp) -> ast.operator:
    return _BINARY.get(type(node).__name__.removesuffix("Assign"), ast.Add)()


def _names(items: Sequence[cst.NameItem]) -> list[str]:
    return [item.name.value for item in items]


_BINARY: dict[str, type[ast.operator]] = {
    "Add": ast.Add,
    "Subtract": ast.Sub,
    "Multiply": ast.Mult,
    "Divide": ast.Div,
    "FloorDivide": ast.FloorDiv,
    "Modulo": ast.Mod,
    "Power": ast.Pow,
    "MatrixMultiply": ast.MatMult,
    "LeftShift": ast.LShift,
    "RightShift": ast.RShift,
    "BitAnd": ast.BitAnd,
    "BitOr": ast.BitOr,
    "BitXor": ast.BitXor,
}
_UNARY: dict[type[cst.CSTNode], type[ast.unaryop]] = {
    cst.Not: ast.Not,
    cst.Minus: ast.USub,
    cst.Plus: ast.UAdd,
    cst.BitInvert: ast.Invert,
}
_COMPARE: dict[type[cst.CSTNode], type[ast.cmpop]] = {
    cst.Equal: ast.Eq,
    cst.NotEqual: ast.NotEq,
    cst.LessThan: ast.Lt,
    cst.LessThanEqual: ast.LtE,
    cst.GreaterThan: ast.Gt,
    cst.GreaterThanEqual: ast.GtE,
    cst.In: ast.In,
    cst.NotIn: ast.NotIn,
    cst.Is: ast.Is,
    cst.IsNot: ast.IsNot,
}
_STATEMENTS: dict[type[cst.CSTNode], Callable[..., ast.stmt]] = {
    cst.FunctionDef: Convert.function,
    cst.ClassDef: Convert.a_class,
    cst.If: Convert.branch,
    cst.For: Convert.for_loop,
    cst.While: Convert.while_loop,
    cst.With: Convert.with_block,
    cst.Try: Convert.trying,
    cst.TryStar: Convert.trying,
    cst.Match: Convert.match,
    cst.AnnAssign: Convert.annotated,
    cst.Import: Convert.imported,
    cst.ImportFrom: Convert.imported_from,
    cst.Assign: lambda self, n: ast.Assign([self.expr(t.target) for t in n.targets], self.expr(n.value)),
    cst.AugAssign: lambda self, n: ast.AugAssign(self.expr(n.target), _operator(n.operator), self.expr(n.value)),
    cst.Expr: lambda self, n: ast.Expr(self.expr(n.value)),
    cst.Return: lambda self, n: ast.Return(self.maybe(n.value)),
    cst.Raise: lambda self, n: ast.Raise(self.maybe(n.exc), self.maybe(n.cause.item if n.cause else None)),
    cst.Assert: lambda self, n: ast.Assert(self.expr(n.test), self.maybe(n.msg)),
    cst.Del: lambda self, n: ast.Delete([self.expr(n.target)]),
    cst.Global: lambda _, n: ast.Global(_names(n.names)),
    cst.Nonlocal: lambda _, n: ast.Nonlocal(_names(n.names)),
    cst.Pass: lambda *_: ast.Pass(),
    cst.Break: lambda *_: ast.Break(),
    cst.Continue: lambda *_: ast.Continue(),
}
_EXPRESSIONS: dict[type[cst.CSTNode], Callable[..., ast.expr]] = {
    cst.Name: Convert.name,
    cst.Attribute: lambda self, n: ast.Attribute(self.expr(n.value), n.attr.value, ast.Load()),
    cst.Integer: lambda _, n: ast.Constant(n.evaluated_value),
    cst.Float: lambda _, n: ast.Constant(n.evaluated_value),
    cst.Imaginary: lambda _, n: ast.Constant(n.evaluated_value),
    cst.Ellipsis: lambda *_: ast.Constant(...),
    cst.SimpleString: Convert.string,
    cst.ConcatenatedString: Convert.string,
    cst.FormattedString: Convert.joined,
    cst.TemplatedString: Convert.joined,
    cst.Call: Convert.call,
    cst.Subscript: Convert.subscript,
    cst.BinaryOperation: Convert.binary,
    cst.UnaryOperation: Convert.unary,
    cst.BooleanOperation: Convert.boolean,
    cst.Comparison: Convert.comparison,
    cst.Tuple: lambda self, n: ast.Tuple(self.elements(n.elements), ast.Load()),
    cst.List: lambda self, n: ast.List(self.elements(n.elements), ast.Load()),
    cst.Set: lambda self, n: ast.Set(self.elements(n.elements)),
    cst.Dict: Convert.dictionary,
    cst.ListComp: lambda self, n: ast.ListComp(self.expr(n.elt), self.generators(n.for_in)),
    cst.SetComp: lambda self, n: ast.SetComp(self.expr(n.elt), self.generators(n.for_in)),
    cst.GeneratorExp: lambda self, n: ast.GeneratorExp(self.expr(n.elt), self.generators(n.for_in)),
    cst.DictComp: lambda self, n: ast.DictComp(self.expr(n.key), self.expr(n.value), self.generators(n.for_in)),
    cst.IfExp: lambda self, n: ast.IfExp(self.expr(n.test), self.expr(n.body), self.expr(n.orelse)),
    cst.Lambda: lambda self, n: ast.Lambda(self.arguments(n.params), self.expr(n.body)),
    cst.Await: lambda self, n: ast.Await(self.expr(n.expression)),
    cst.Yield: Convert.yielded,
    cst.NamedExpr: lambda self, n: ast.NamedExpr(self.expr(n.target), self.expr(n.value)),
}
