"""Reading the expressions of one file: calls, strings, and the signs they give."""

import ast
import re
from collections.abc import Callable, Iterable, Sequence

from recon.index import signs, spell
from recon.index.binding import BindingReader, Frame
from recon.index.records import Call, Feature, Param, Text

__all__ = ["ExpressionReader", "Frame"]

_WORD = re.compile(r"-{0,2}[A-Za-z_][\w.:+/\-]*\Z")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+(?::[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)?\Z")
_LONGEST_WORD = 64
_LONGEST_DOTTED = 160
_LONGEST_DEFAULT = 60
_GENERIC = spell.words("list dict set tuple type frozenset deque defaultdict OrderedDict Counter")
_DISPLAYS = (ast.Tuple, ast.List, ast.Set)
_SPELLED = frozenset({ast.Attribute, ast.Call, ast.Subscript})
_FILLING = frozenset({"append", "add", "appendleft", "insert", "setdefault", "update", "extend"})
_EQUALITIES, _ORDERS = frozenset({ast.Eq, ast.NotEq}), frozenset({ast.Lt, ast.LtE, ast.Gt, ast.GtE})
_STORE, _INDEX, _LAUNCH = int(Feature.STORE), int(Feature.INDEX_BY_INDEX), int(Feature.LAUNCH)
_EQ, _ORDER, _DIVIDE = int(Feature.COMPARE_EQ), int(Feature.COMPARE_ORDER), int(Feature.DIVIDE)
_DOT, _WHERE = int(Feature.DOT), int(Feature.WHERE)


class _EndLambda(ast.AST):
    """Left on the stack below the body of a lambda."""

    def __init__(self, outer: int) -> None:
        super().__init__()
        self.outer = outer


class ExpressionReader(BindingReader):
    """The reading of expressions."""

    def __init__(self, data: bytes, frame: Frame) -> None:
        super().__init__(data, frame)
        self.names: set[str] = set()  # names used by the current statement
        self.addresses: set[str] = set()  # names used in addresses by the current statement
        self.loads = False  # whether the current statement reads by address
        self.noted: dict[ast.arg, list[tuple[str, str]]] = {}  # of the parameters of a function: what their notes name

    def walk(self, nodes: Iterable[ast.AST | None]) -> None:
        """Read expressions and all below them, in source order."""
        stack = [node for node in nodes if node is not None]
        stack.reverse()
        self.read_all(stack)

    def read_all(self, stack: list[ast.AST]) -> None:
        """Read the expressions of a stack, the last one first, and all below them."""
        pop, special, used = stack.pop, _EXPRESSIONS, self.names
        while stack:
            node = pop()
            while (kind := node.__class__) is ast.Attribute:
                node = node.value  # type: ignore[attr-defined]  # the class was compared, for speed
            if kind is ast.Name:
                used.add(node.id)  # type: ignore[attr-defined]  # likewise
            elif kind is ast.Constant:
                if node.value.__class__ is str:  # type: ignore[attr-defined]  # likewise
                    self.text(node.value, "value", node.lineno)  # type: ignore[attr-defined]  # likewise
            elif (read := special.get(kind)) is not None:
                read(self, node, stack)
            else:
                for name in _FIELDS.get(kind, ()):
                    _leave(getattr(node, name), stack)

    def text(self, value: str, role: str, line: int) -> None:
        """Keep a string if it could name something."""
        if len(value) > _LONGEST_DOTTED or not _WORD.match(value):
            return
        if "." in value and _DOTTED.match(value):
            role = "dotted"
        elif len(value) > _LONGEST_WORD:
            return
        self.texts.append(Text(self.here, value, role, line))

    def texts_of(self, nodes: Iterable[ast.AST | None], role: str, stack: list[ast.AST]) -> None:
        """Keep the strings among nodes under a role; leave the rest on the stack."""
        rest: list[ast.AST] = []
        for node in nodes:
            kind = node.__class__
            if kind is ast.Name:
                self.names.add(node.id)  # type: ignore[union-attr]  # the class was compared, for speed
            elif isinstance(node, ast.Constant):
                if node.value.__class__ is str:
                    self.text(node.value, role, node.lineno)
            elif isinstance(node, _DISPLAYS):
                self.texts_of(node.elts, role, rest)
            elif node is not None:
                if role == "compare" and kind is ast.Attribute and node.attr.isupper():  # type: ignore[attr-defined]
                    self.text(node.attr, "member", node.lineno)  # type: ignore[attr-defined]  # likewise
                rest.append(node)
        rest.reverse()
        stack += rest

    def call(self, node: ast.Call, stack: list[ast.AST]) -> None:
        """Record a call and the signs it gives."""
        function = node.func
        kind = function.__class__
        callee = spell.dotted(function)
        values = node.args
        keywords: tuple[str, ...] = ()
        if node.keywords:
            values = values + [keyword.value for keyword in node.keywords]
            keywords = tuple([keyword.arg or "**" for keyword in node.keywords])
        self.calls.append(Call(self.here, callee, node.lineno, len(node.args), keywords, self.arguments(values, stack)))
        if kind is ast.Name:
            self.names.add(callee)
            last = callee
        elif kind is ast.Attribute:
            owner = function.value  # type: ignore[attr-defined]  # the class was compared, for speed
            if owner.__class__ is ast.Name:
                self.names.add(owner.id)
            else:
                stack.append(owner)
            last = function.attr  # type: ignore[attr-defined]  # likewise
            if last in _FILLING:
                self.bind_filled(owner, last, node)
        else:
            self.callee(function, callee, stack)
            return
        if last in signs.TELLING:
            self.call_signs(node, last, callee.partition(".")[0])

    def arguments(self, values: Sequence[ast.expr], stack: list[ast.AST]) -> tuple[str, ...]:
        """Spell the arguments of a call, keep their strings, leave the rest on the stack."""
        if not values:
            return ()
        spelled: list[str] = []
        rest: list[ast.AST] = []
        for value in values:
            kind = value.__class__
            if kind is ast.Name:
                name: str = value.id  # type: ignore[attr-defined]  # the class was compared, for speed
                spelled.append(name)
                self.names.add(name)
            elif kind is ast.Constant:
                literal = value.value  # type: ignore[attr-defined]  # likewise
                spelled.append(spell.constant(literal))
                if literal.__class__ is str:
                    self.text(literal, "argument", value.lineno)
            elif kind in _DISPLAYS:
                spelled.append("")
                self.texts_of(value.elts, "argument", rest)  # type: ignore[attr-defined]  # likewise
            else:
                spelled.append(spell.dotted(value) if kind in _SPELLED else spell.argument(value))
                rest.append(value)
        rest.reverse()
        stack += rest
        return tuple(spelled)

    def callee(self, function: ast.expr, name: str, stack: list[ast.AST]) -> None:
        """Read what is called where it is no plain name: `f[grid](...)`, `f(x)(y)`."""
        if isinstance(function, ast.Subscript):
            if name and name.partition("[")[0] not in _GENERIC:
                self.frame.bits |= _LAUNCH
            self.texts_of([function.slice], "key", stack)
            stack.append(function.value)
        else:
            stack.append(function)

    def call_signs(self, node: ast.Call, last: str, root: str) -> None:
        """What a call says by the last part of its name and by its arguments."""
        frame = self.frame
        bits = signs.of_call(last, self.libraries.get(root, root), node, jit=frame.jit)
        frame.bits |= bits
        if last == "load":
            if bits:
                self.address(node.args[:1], reads=True)
        elif last == "store":
            if bits:
                self.address(node.args[:1], reads=False)
        elif last in signs.LOADS:
            self.address(node.args, reads=True)
        elif last == "get" and node.args and frame.loops:
            names, loads = _used(node.args[:1])
            self.addresses |= names
            frame.bits |= _INDEX if loads else 0

    def subscript(self, node: ast.Subscript, stack: list[ast.AST]) -> None:
        """Read a subscript: its key is an address."""
        key = node.slice
        if isinstance(key, ast.Constant):
            if key.value.__class__ is str:
                self.text(key.value, "key", key.lineno)
        else:
            is_extent = isinstance(node.value, ast.Attribute) and node.value.attr in {"shape", "strides"}
            if not is_extent:
                self.address([key], reads=isinstance(node.ctx, ast.Load))
            if key.__class__ is ast.Name:
                self.names.add(key.id)
            else:
                self.texts_of([key], "key", stack)
        stack.append(node.value)

    def address(self, keys: Sequence[ast.AST], *, reads: bool) -> None:
        """Take note of an address, and of a load that feeds it."""
        names, loads = _used(keys)
        if loads or not names.isdisjoint(self.frame.loaded):
            self.frame.bits |= _INDEX
        for loop in self.frame.loops:
            loop.addresses |= names
        if reads and (names or loads):
            self.addresses |= names
            self.loads = True

    def compare(self, node: ast.Compare, stack: list[ast.AST]) -> None:
        """Record a comparison."""
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            if op.__class__ in _EQUALITIES:
                if signs.is_difference(left) or not (signs.is_constant(left) or signs.is_constant(right)):
                    self.frame.bits |= _EQ
            elif op.__class__ in _ORDERS:
                self.frame.bits |= _ORDER
            left = right
        self.texts_of([node.left, *node.comparators], "compare", stack)

    def operation(self, node: ast.BinOp, stack: list[ast.AST]) -> None:
        """Record an arithmetic operation."""
        self.operator(node.op, node.left, node.right)
        stack += (node.right, node.left)

    def operator(self, op: ast.operator, left: ast.expr, right: ast.expr) -> None:
        """The sign that an operator gives."""
        if op.__class__ is ast.Div:
            if not signs.is_constant(left) and not signs.is_constant(right):
                self.frame.bits |= _DIVIDE
        elif op.__class__ is ast.MatMult:
            self.frame.bits |= _DOT

    def conditional(self, node: ast.IfExp, stack: list[ast.AST]) -> None:
        """Read `a if c else b`: in a kernel it chooses between tensors."""
        if self.frame.jit:
            self.frame.bits |= _WHERE
        stack += (node.orelse, node.body, node.test)

    def display(self, node: ast.Dict, stack: list[ast.AST]) -> None:
        """Read a dictionary display."""
        stack += [value for value in reversed(node.values) if value is not None]
        self.texts_of(node.keys, "key", stack)

    def joined(self, node: ast.JoinedStr, stack: list[ast.AST]) -> None:
        """Read the expressions of an f-string."""
        stack += [part for part in reversed(node.values) if part.__class__ is not ast.Constant]

    def comprehension(self, node: ast.comprehension, stack: list[ast.AST]) -> None:
        """Read one `for` of a comprehension: what it binds may be read on any line around it."""
        outside, self.frame.around = self.frame.around, 1
        self.bind_element(node.target, node.iter)
        self.frame.around = outside
        if isinstance(node.iter, ast.Subscript):  # `x in kids[at]`: an address made of x is made of a load
            self.frame.loaded.update(spell.target_names(node.target))
        stack += (*reversed(node.ifs), node.iter)

    def named(self, node: ast.NamedExpr, stack: list[ast.AST]) -> None:
        """Read `(name := value)`."""
        self.bind(node.target, node.value)
        self.flow([node.target], node.value, _used([node.value])[0])
        stack.append(node.value)

    def function_value(self, node: ast.Lambda, stack: list[ast.AST]) -> None:
        """Read a lambda: a scope of its own, whose signs are those of the function around it."""
        self.walk([*node.args.defaults, *node.args.kw_defaults])
        stack += (_EndLambda(self.open_lambda(node, self.params(node.args))), node.body)

    def end_lambda(self, node: "_EndLambda", _: list[ast.AST]) -> None:
        """Go back to the scope around a lambda."""
        self.here = node.outer

    def yielded(self, node: ast.Yield, stack: list[ast.AST]) -> None:
        """Read a yield: what a call gives holds the value."""
        self.add_bind("return", "<generator>", "", node.lineno)
        for suffix, text in spell.values(node.value):
            self.add_bind("return[]" + suffix, text, "", node.lineno)
        if node.value is not None:
            stack.append(node.value)

    def yielded_from(self, node: ast.YieldFrom, stack: list[ast.AST]) -> None:
        """Read a `yield from`: what a call gives holds the elements of the value."""
        self.add_bind("return", "<generator>", "", node.lineno)
        if text := spell.dotted(node.value):
            self.add_bind("return[]", text + "[*]", "", node.lineno)
        stack.append(node.value)

    def params(self, arguments: ast.arguments) -> tuple[Param, ...]:
        """Parameters in the order of the source, `*args` and `**kwargs` with their stars."""
        named = arguments.posonlyargs + arguments.args
        defaults: list[ast.expr | None] = [None] * (len(named) - len(arguments.defaults)) + [*arguments.defaults]
        rows = [(arg, "", default) for arg, default in zip(named, defaults, strict=True)]
        if arguments.vararg:
            rows.append((arguments.vararg, "*", None))
        rows += [(arg, "", default) for arg, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)]
        if arguments.kwarg:
            rows.append((arguments.kwarg, "**", None))
        return tuple(
            [
                Param(
                    stars + arg.arg,
                    self.class_of(arg) if arg.annotation is not None else "",
                    self.source_of(default) if default is not None else "",
                )
                for arg, stars, default in rows
            ]
        )

    def class_of(self, arg: ast.arg) -> str:
        """The one class that the annotation of a parameter names; all that it names is kept in `noted`."""
        note = arg.annotation
        if note.__class__ is ast.Name:
            return note.id
        names = self.noted[arg] = spell.annotated(note)
        return spell.one_of(names)

    # Assignments ------------------------------------------------------------------------------------------------------

    def fresh(self, node: ast.stmt) -> None:
        """Forget what the last statement used."""
        self.since = node.end_lineno or 0
        self.names.clear()
        self.addresses.clear()
        self.loads = False

    def flow(self, targets: Iterable[ast.expr], value: ast.expr | None, used: set[str], *, plain: bool = True) -> None:
        """Note which names an assignment binds from which: the stuff of chases and of indexed indices."""
        frame = self.frame
        if not (frame.loops or frame.loaded or self.loads):
            return
        names = [name for target in targets for name in spell.target_names(target)]
        if not names:
            return
        if self.loads or not used.isdisjoint(frame.loaded):
            frame.loaded.update(names)
        elif plain and frame.loaded and value is not None:
            frame.loaded.difference_update(names)
        if frame.loops:
            addresses = set(self.addresses)
            if plain or addresses:
                used = set(used)
                for loop in frame.loops:
                    loop.flows.append((names, used, addresses))
            for loop in frame.loops:
                loop.assigned.update(names)

    def store(self, target: ast.expr) -> None:
        """Read assignment targets: a subscript stores."""
        stack = [target]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Attribute):
                self.read_all([node.value])
            elif isinstance(node, ast.Subscript):
                self.frame.bits |= _STORE
                self.read_all([node])
            elif isinstance(node, _DISPLAYS):
                stack += reversed(node.elts)
            elif isinstance(node, ast.Starred):
                stack.append(node.value)

    def source_of(self, node: ast.expr) -> str:
        """Source of a default value, on one line and cut."""
        text = spell.argument(node)
        if text:
            return text
        if self.lines is None:
            self.lines = self.data.splitlines()
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        lines = self.lines[first : last + 1]
        if not lines:
            return ""
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b" ".join(line.strip() for line in lines).decode(errors="replace")[:_LONGEST_DEFAULT]


def _leave(part: object, stack: list[ast.AST]) -> None:
    """Leave what a field of a node holds on a stack."""
    if isinstance(part, list):
        stack += [item for item in reversed(part) if item is not None]
    elif isinstance(part, ast.AST):
        stack.append(part)


def _used(keys: Sequence[ast.AST]) -> tuple[set[str], bool]:
    """Names used in an address, and whether another load feeds it."""
    names: set[str] = set()
    loads = False
    stack = [*keys]
    while stack:
        node = stack.pop()
        kind = node.__class__
        if kind is ast.Name:
            names.add(node.id)  # type: ignore[attr-defined]  # the class was compared, for speed
        elif kind is ast.Attribute:
            stack.append(node.value)  # type: ignore[attr-defined]  # likewise
        elif kind is not ast.Constant:
            if isinstance(node, ast.Subscript):
                loads = loads or _is_element(node)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                loads = loads or node.func.attr in signs.LOADS
            stack += ast.iter_child_nodes(node)
    return names, loads


def _is_element(node: ast.Subscript) -> bool:
    """Whether a subscript reads by an address that is computed, not by a literal one."""
    stack: list[ast.AST] = [node.slice]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Name):
            return not (isinstance(node.value, ast.Attribute) and node.value.attr in {"shape", "strides"})
        stack += ast.iter_child_nodes(part)
    return False


def _fields() -> dict[type[ast.AST], tuple[str, ...]]:
    """Of each plain kind of expression: the fields that hold expressions, last first."""
    skipped = {"ctx", "op", "ops", "annotation", "conversion", "arg", "kind", "target", "args"}
    kinds = [getattr(ast, name) for name in dir(ast)]
    return {
        kind: tuple(name for name in reversed(kind._fields) if name not in skipped)
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, ast.expr | ast.keyword)
    }


_Read = Callable[..., None]
_FIELDS = _fields()
_EXPRESSIONS: dict[type[ast.AST], _Read] = {
    ast.Call: ExpressionReader.call,
    ast.Subscript: ExpressionReader.subscript,
    ast.Compare: ExpressionReader.compare,
    ast.BinOp: ExpressionReader.operation,
    ast.IfExp: ExpressionReader.conditional,
    ast.Dict: ExpressionReader.display,
    ast.JoinedStr: ExpressionReader.joined,
    ast.comprehension: ExpressionReader.comprehension,
    ast.NamedExpr: ExpressionReader.named,
    ast.Lambda: ExpressionReader.function_value,
    ast.Yield: ExpressionReader.yielded,
    ast.YieldFrom: ExpressionReader.yielded_from,
    _EndLambda: ExpressionReader.end_lambda,
}
