"""How parts of a Python file are spelled in records: names with their dots, arguments, annotations."""

import ast
import re
from collections.abc import Iterable, Sequence


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set to ask."""
    return frozenset(text.split())


_MOST_PARTS = 16
_MOST_ARGUMENT = 40
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_ASKED = re.compile(r"[\w\[\].:+/\-]{1,48}\Z", re.ASCII)
_WRAPPERS = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar"})
_FIRST_ELEMENT = words(
    "list List Sequence MutableSequence Iterable Iterator Generator Collection set Set frozenset FrozenSet deque Deque "
    "AsyncIterator AsyncIterable AsyncGenerator AbstractSet"
)
_LAST_ELEMENT = words("dict Dict Mapping MutableMapping OrderedDict defaultdict DefaultDict")


_METACLASSES = frozenset({"type", "Type"})
_LITERALS = frozenset(
    {ast.Constant, ast.BinOp, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.JoinedStr, ast.Compare, ast.UnaryOp}
    | {ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp}
)
_NAMELESS = _LITERALS | {ast.IfExp, ast.BoolOp, ast.Starred}
"""Expressions that spell no name, but for a literal of which an attribute is taken."""
_DISPLAYS = frozenset(
    {ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Call, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp}
)


_SPELLED = frozenset({ast.Attribute, ast.Call, ast.Subscript, ast.Lambda})
_TYPES: dict[type[ast.expr], str] = {
    ast.List: "<list>",
    ast.ListComp: "<list>",
    ast.Tuple: "<tuple>",
    ast.Dict: "<dict>",
    ast.DictComp: "<dict>",
    ast.Set: "<set>",
    ast.SetComp: "<set>",
    ast.JoinedStr: "<str>",
    ast.GeneratorExp: "<generator>",
}
_GETATTR = "getattr"
_KEY = re.compile(r"[\w-]{1,40}\Z")
_HIGHEST = 1 << 16
_DEEPEST_ENTRY = 3


def dotted(node: ast.expr) -> str:
    """The name that an expression spells: `a.b`, `f[].g`, `d['a']`, `C().m`; '' if there is none.

    `getattr(x, "m")` spells `x.m`, since that is what it reads. A lambda is spelled by its place, `<lambda3:7>`, and a
    literal of which an attribute is taken by its type, `<str>.join`.
    """
    kind = node.__class__
    if kind is ast.Name:
        return node.id  # type: ignore[attr-defined, no-any-return]  # the class was compared, for speed
    if kind is ast.Attribute:
        base = node.value  # type: ignore[attr-defined]  # likewise
        if base.__class__ is ast.Name:
            return f"{base.id}.{node.attr}"  # type: ignore[attr-defined]  # likewise
        if base.__class__ is ast.Attribute and base.value.__class__ is ast.Name:
            return f"{base.value.id}.{base.attr}.{node.attr}"  # type: ignore[attr-defined]  # likewise
    elif kind is ast.Call:
        called = node.func  # type: ignore[attr-defined]  # likewise
        if called.__class__ is ast.Attribute and called.value.__class__ is ast.Name:
            return f"{called.value.id}.{called.attr}()"
        if called.__class__ is ast.Name and called.id != _GETATTR:
            return f"{called.id}()"
    elif kind in _NAMELESS:
        return ""
    return _joined(node)


def _joined(node: ast.expr) -> str:
    """What an expression spells, part by part."""
    parts: list[str] = []
    while len(parts) < _MOST_PARTS:
        kind = node.__class__
        if kind is ast.Attribute:
            parts.append("." + node.attr)  # type: ignore[attr-defined]  # the class was compared, for speed
            node = node.value  # type: ignore[attr-defined]  # likewise
        elif kind is ast.Name:
            parts.append(node.id)  # type: ignore[attr-defined]  # likewise
            parts.reverse()
            return "".join(parts)
        elif kind is ast.Call:
            name = read_by_getattr(node)  # type: ignore[arg-type]  # likewise
            parts.append("." + name if name else "()")
            node = node.args[0] if name else node.func  # type: ignore[attr-defined]  # likewise
        elif kind in _LITERALS or kind is ast.Lambda:
            return _rooted(node, parts)
        elif kind is ast.Subscript:
            parts.append(f"[{key(node.slice)}]")  # type: ignore[attr-defined]  # likewise
            node = node.value  # type: ignore[attr-defined]  # likewise
        elif kind is ast.Await:
            node = node.value  # type: ignore[attr-defined]  # likewise
        else:
            return ""
    return ""


def _rooted(node: ast.expr, parts: list[str]) -> str:
    """What a lambda is spelled, and what is taken from a literal, by the literal's type."""
    if isinstance(node, ast.Lambda):
        root = f"<lambda{node.lineno}:{node.col_offset}>"
    else:
        root = literal_type(node) if parts and parts[-1][0] == "." else ""
    return "".join([root, *reversed(parts)]) if root else ""


def literal_type(node: ast.expr) -> str:
    """The type of a literal as records spell it: `<str>`, `<dict>`; '' for other expressions."""
    if isinstance(node, ast.Constant):
        kind = type(node.value)
        return f"<{kind.__name__}>" if kind in {str, bytes, int, float} else ""
    return _TYPES.get(node.__class__, "")


def key(node: ast.expr) -> str:
    """A subscript that is written out: `'a'`, `0`, `1:3`; '' where it has to be computed."""
    if node.__class__ is ast.Constant:
        value: object = node.value
        if value.__class__ is int and 0 <= value < _HIGHEST:
            return str(value)
        return repr(value) if value.__class__ is str and _KEY.match(value) else ""
    if isinstance(node, ast.Slice) and node.step is None:
        first, last = (key(part) if part is not None else "" for part in (node.lower, node.upper))
        if first.isdigit() and (last.isdigit() or node.upper is None):
            return f"{first}:{last}"
    return ""


def read_by_getattr(call: ast.Call) -> str:
    """The attribute that `getattr(x, "name")` reads, '' for any other call."""
    function = call.func
    if function.__class__ is ast.Name and function.id == _GETATTR and len(call.args) > 1:
        name = call.args[1]
        if isinstance(name, ast.Constant) and isinstance(name.value, str) and name.value.isidentifier():
            return name.value
    return ""


def argument(node: ast.expr) -> str:
    """An argument as its record shows it: a constant as source, a name with its dots, else ''."""
    if node.__class__ in _SPELLED:
        return dotted(node)
    match node:
        case ast.Name():
            return node.id
        case ast.Constant():
            return constant(node.value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
            return "-" + constant(value)
        case ast.Starred():
            name = dotted(node.value)
            return "*" + name if name else ""
    return dotted(node)


def constant(value: object) -> str:
    """A literal as source, cut to 40 characters (a string that was cut lacks its closing quote)."""
    if value is None or value is True or value is False:
        return str(value)
    if isinstance(value, str):
        return repr(value) if len(value) < _MOST_ARGUMENT - 2 else repr(value[:_MOST_ARGUMENT])[:_MOST_ARGUMENT]
    if value is Ellipsis:
        return "..."
    try:
        return repr(value)[:_MOST_ARGUMENT]
    except ValueError:  # a hexadecimal literal may have more digits than Python prints
        return ""


def annotation(node: ast.expr | None) -> str:
    """The one class that an annotation names, '' if it names none or several."""
    if node is None:
        return ""
    if node.__class__ is ast.Name:
        return node.id
    return one_of(annotated(node))


def one_of(names: list[tuple[str, str]]) -> str:
    """The one class among those that an annotation names, '' if it names none or several."""
    if len(names) == 1:
        return "" if names[0][0] else names[0][1]
    things = [name for suffix, name in names if not suffix]
    return things[0] if len(things) == 1 else ""


def annotated(node: ast.expr | None) -> list[tuple[str, str]]:
    """Every class that an annotation names, each with '' for the thing itself or `[]` for what it holds.

    Where the class itself is meant, and no instance of it, it is spelled `type[X]`.
    """
    if node.__class__ is ast.Name:
        return [("", node.id)]
    found: list[tuple[str, str]] = []
    stack: list[tuple[str, ast.expr | None]] = [("", node)]
    while stack and len(found) < _MOST_PARTS:
        suffix, part = stack.pop()
        if isinstance(part, ast.Name | ast.Attribute):
            if name := dotted(part):
                found.append((suffix, name))
        elif isinstance(part, ast.Constant):
            if isinstance(part.value, str):
                if _DOTTED.match(part.value):
                    found.append((suffix, part.value))
                else:
                    stack.append((suffix, _quoted(part.value)))
        elif isinstance(part, ast.Subscript):
            names, inside = _inside(part)
            found += [(suffix, name) for name in names]
            stack += [(suffix + more, inner) for more, inner in reversed(inside)]
        elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr):
            stack += [(suffix, part.right), (suffix, part.left)]
    return found


def _inside(node: ast.Subscript) -> tuple[Sequence[str], Sequence[tuple[str, ast.expr]]]:
    """What a generic annotation is about: the class that is meant itself, or the parts that name classes of values."""
    base = dotted(node.value).rpartition(".")[2]
    if base in _METACLASSES:
        name = annotation(node.slice)
        return [f"type[{name}]"] if name else (), ()
    return (), _of_values(node, base)


def _of_values(node: ast.Subscript, base: str) -> list[tuple[str, ast.expr]]:
    """The parts of a generic annotation that name classes of values, by the name of its own class."""
    elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not elements or base in _NO_VALUES:
        return []
    if base in _WRAPPERS:
        return [("", elements[0])]
    if base == "Union":
        return [("", element) for element in elements]
    if base in _FIRST_ELEMENT:
        return [("[]", elements[0])]
    if base in _LAST_ELEMENT:
        return [("[]", elements[-1])]
    if base in {"tuple", "Tuple"}:
        return [("[]", element) for element in elements]
    return [("", node.value)]  # a generic class of the tree


_NO_VALUES = frozenset({"Callable", "Literal", "Awaitable", "Coroutine", "TypeGuard", "TypeIs"})


def _quoted(text: str) -> ast.expr | None:
    """The expression inside a quoted annotation."""
    if len(text) > 500:
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def choices(node: ast.expr | None) -> list[str]:
    """The strings that a `Literal[...]` anywhere in an annotation allows."""
    found: list[str] = []
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.Subscript):
            key = part.slice
            elements = key.elts if isinstance(key, ast.Tuple) else [key]
            if dotted(part.value).rpartition(".")[2] == "Literal":
                found += [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str)]
            else:
                stack += elements
        elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr):
            stack += [part.left, part.right]
    return found


def asked(test: ast.expr) -> list[str]:
    """What a test asks for: names with dots, calls with `()`, strings in quotes; what must not hold is left out."""
    found: list[str] = []
    stack = [test]
    while stack:
        part = stack.pop()
        kind = part.__class__
        if kind is ast.Name or kind is ast.Attribute:
            if name := dotted(part):
                found.append(name)
        elif isinstance(part, ast.Call):
            if name := dotted(part):
                found.append(name)
            if not read_by_getattr(part):
                stack += part.args[::-1]
        elif isinstance(part, ast.Constant):
            if isinstance(part.value, str) and _ASKED.match(part.value):
                found.append(f"'{part.value}'")
        else:
            stack += _held(part)
    return found


def _held(test: ast.expr) -> Iterable[ast.expr]:
    """The parts of a test that must hold, last first."""
    if isinstance(test, ast.Compare):
        sides = zip(test.ops, test.comparators, strict=True)
        held = [side for op, side in sides if op.__class__ not in _UNLIKE]
        return [*reversed(held), test.left] if held else ()
    if isinstance(test, ast.UnaryOp) and test.op.__class__ is ast.Not:
        return ()
    return reversed([child for child in ast.iter_child_nodes(test) if isinstance(child, ast.expr)])


_UNLIKE = frozenset({ast.NotEq, ast.NotIn, ast.IsNot})


def target_names(target: ast.expr) -> list[str]:
    """The plain names that an assignment to this target binds."""
    if target.__class__ is ast.Name:
        return [target.id]
    found: list[str] = []
    stack = [target]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            found.append(node.id)
        elif isinstance(node, ast.Tuple | ast.List):
            stack += node.elts[::-1]
        elif isinstance(node, ast.Starred):
            stack.append(node.value)
    return found


def values(value: ast.expr | None) -> list[tuple[str, str]]:
    """What a value can be: each name with '', and what a display holds with its key, `['a']`, or `[]`."""
    kind = value.__class__
    if value is None:
        return []
    if kind is ast.Constant:
        text = key(value) or ("<str>" if value.value.__class__ is str else "")  # type: ignore[attr-defined]  # likewise
        return [("", text)] if text else []
    if kind is ast.Name or kind is ast.Attribute:
        name = dotted(value)
        return [("", name)] if name else []
    if kind is ast.Call:
        name = dotted(value)
        found = [("", name)] if name else []
        return found + entries(value) if _called(value) else found  # type: ignore[arg-type]  # likewise
    if kind in _LITERALS and kind not in _DISPLAYS:
        return []
    found = []
    for node in _alternatives(value):
        if text := dotted(node):
            found.append(("", text))
        if node.__class__ in _DISPLAYS:
            if spelled := _TYPES.get(node.__class__, ""):
                found.append(("", spelled))
            found += entries(node)
    return found


def _alternatives(value: ast.expr) -> list[ast.expr]:
    """What `a if c else b`, `a or b` and `{"k": a}[k]` choose from."""
    kind = value.__class__
    if kind not in _CHOOSING:
        return [value] if kind is not ast.Constant else []
    found: list[ast.expr] = []
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.IfExp):
            stack += (node.orelse, node.body)
        elif isinstance(node, ast.BoolOp):
            stack += reversed(node.values)
        elif isinstance(node, ast.NamedExpr):
            stack.append(node.value)
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict):
            stack += reversed(node.value.values)
        elif node.__class__ is not ast.Constant:
            found.append(node)
    return found


_CHOOSING = frozenset({ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Subscript})


def entries(value: ast.expr, depth: int = 0) -> list[tuple[str, str]]:
    """What a display of things holds: the text of each entry, with its key as a suffix, nested ones with several."""
    found: list[tuple[str, str]] = []
    for name, part in _parts(value):
        for each in _alternatives(part):
            if text := dotted(each):
                found.append((f"[{name}]", text))
            elif (kind := _TYPES.get(each.__class__, "")) and depth < _DEEPEST_ENTRY:
                inside = [(f"[{name}]{suffix}", text) for suffix, text in entries(each, depth + 1)]
                if inside:
                    found.append((f"[{name}]", kind))
                    found += inside
    return found


def _parts(value: ast.expr) -> Iterable[tuple[str, ast.expr]]:
    """The entries of a display, each with its key, '' where that is not written out."""
    if isinstance(value, ast.Call):
        return _called(value)
    if isinstance(value, ast.Dict):
        keys = [key(each) if each is not None else "" for each in value.keys]
        return zip(keys, value.values, strict=True)
    if isinstance(value, ast.List | ast.Tuple):
        is_plain = len(value.elts) <= _MOST_PARTS and ast.Starred not in {each.__class__ for each in value.elts}
        return [(str(place) if is_plain else "", each) for place, each in enumerate(value.elts)]
    if isinstance(value, ast.Set):
        return [("", each) for each in value.elts]
    if isinstance(value, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return [("", value.elt)]
    if isinstance(value, ast.DictComp):
        return [("", value.value)]
    return ()


def _called(call: ast.Call) -> Sequence[tuple[str, ast.expr]]:
    """The entries of what a call makes of a display, or of its keywords: `list([a])`, `dict(a=b)`."""
    if len(call.args) == 1 and call.args[0].__class__ in _GIVEN:
        return list(_parts(call.args[0]))
    function = call.func
    if function.__class__ is ast.Name and function.id in {"dict", "OrderedDict"}:
        return [(repr(each.arg or ""), each.value) for each in call.keywords]
    return ()


_GIVEN = frozenset({ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.GeneratorExp})


def decorator(node: ast.expr) -> str:
    """The name of a decorator, without its arguments."""
    return dotted(node.func if isinstance(node, ast.Call) else node)


def base(node: ast.expr) -> str:
    """The name of a base class, without its type arguments."""
    return dotted(node.value if isinstance(node, ast.Subscript) else node)
