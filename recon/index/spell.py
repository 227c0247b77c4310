"""How parts of a Python file are spelled in records: names with their dots, arguments, annotations."""

import ast
import re
from collections.abc import Iterable, Iterator


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
        return str(node.id)  # type: ignore[attr-defined]  # the class was compared, for speed
    if kind is ast.Attribute and node.value.__class__ is ast.Name:  # type: ignore[attr-defined]  # likewise
        return f"{node.value.id}.{node.attr}"  # type: ignore[attr-defined]  # likewise
    parts: list[str] = []
    while len(parts) < _MOST_PARTS:
        kind = node.__class__
        if kind is ast.Attribute:
            parts.append("." + node.attr)  # type: ignore[attr-defined]  # likewise
            node = node.value  # type: ignore[attr-defined]  # likewise
        elif kind is ast.Name:
            parts.append(node.id)  # type: ignore[attr-defined]  # likewise
            parts.reverse()
            return "".join(parts)
        elif kind in _LITERALS or kind is ast.Lambda:
            return _rooted(node, parts)
        elif isinstance(node, ast.Call):
            name = read_by_getattr(node)
            parts.append("." + name if name else "()")
            node = node.args[0] if name else node.func
        elif isinstance(node, ast.Subscript):
            parts.append(f"[{key(node.slice)}]")
            node = node.value
        elif isinstance(node, ast.Await):
            node = node.value
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
    if isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) > 1:
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
    names = [name for suffix, name in annotated(node) if not suffix]
    return names[0] if len(names) == 1 else ""


def annotated(node: ast.expr | None) -> list[tuple[str, str]]:
    """Every class that an annotation names, each with '' for the thing itself or `[]` for what it holds.

    Where the class itself is meant, and no instance of it, it is spelled `type[X]`.
    """
    if isinstance(node, ast.Name):
        return [("", node.id)]
    found: list[tuple[str, str]] = []
    stack: list[tuple[str, ast.expr | None]] = [("", node)]
    while stack and len(found) < _MOST_PARTS:
        suffix, part = stack.pop()
        match part:
            case ast.Name() | ast.Attribute():
                if name := dotted(part):
                    found.append((suffix, name))
            case ast.Constant(value=str() as text):
                if _DOTTED.match(text):
                    found.append((suffix, text))
                else:
                    stack.append((suffix, _quoted(text)))
            case ast.BinOp(op=ast.BitOr()):
                stack += [(suffix, part.right), (suffix, part.left)]
            case ast.Subscript() if dotted(part.value).rpartition(".")[2] in _METACLASSES:
                found += [(suffix, f"type[{name}]") for name in (annotation(part.slice),) if name]
            case ast.Subscript():
                stack += reversed([(suffix + more, inner) for more, inner in _inside(part)])
    return found


def _inside(node: ast.Subscript) -> Iterator[tuple[str, ast.expr]]:
    """What a generic annotation is about: the parts that name classes of values."""
    base = dotted(node.value).rpartition(".")[2]
    elements = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if not elements:
        return
    if base in _WRAPPERS:
        yield "", elements[0]
    elif base == "Union":
        yield from (("", element) for element in elements)
    elif base in _FIRST_ELEMENT:
        yield "[]", elements[0]
    elif base in _LAST_ELEMENT:
        yield "[]", elements[-1]
    elif base in {"tuple", "Tuple"}:
        yield from (("[]", element) for element in elements)
    elif base not in {"Callable", "Literal", "Awaitable", "Coroutine", "TypeGuard", "TypeIs"}:
        yield "", node.value  # a generic class of the tree


def _quoted(text: str) -> ast.expr | None:
    """The expression inside a quoted annotation."""
    if len(text) > 500:
        return None
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def choices(node: ast.expr | None) -> Iterator[str]:
    """The strings that a `Literal[...]` anywhere in an annotation allows."""
    stack = [node]
    while stack:
        part = stack.pop()
        match part:
            case ast.Subscript(value=base, slice=ast.Tuple(elts=elements)):
                literal = dotted(base).rpartition(".")[2] == "Literal"
            case ast.Subscript(value=base, slice=element):
                elements = [element]
                literal = dotted(base).rpartition(".")[2] == "Literal"
            case ast.BinOp(op=ast.BitOr()):
                elements, literal = [part.left, part.right], False
            case _:
                continue
        if literal:
            yield from (e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, str))
        else:
            stack += elements


def asked(test: ast.expr) -> Iterator[str]:
    """What a test asks for: names with dots, calls with `()`, strings in quotes; what must not hold is left out."""
    stack = [test]
    while stack:
        part = stack.pop()
        match part:
            case ast.Constant(value=str() as text):
                if _ASKED.match(text):
                    yield f"'{text}'"
            case ast.UnaryOp(op=ast.Not()) | ast.Constant():
                continue
            case ast.Compare():
                sides = zip(part.ops, part.comparators, strict=True)
                held = [side for op, side in sides if not isinstance(op, ast.NotEq | ast.NotIn | ast.IsNot)]
                stack += reversed([part.left, *held] if held else [])
            case ast.Name() | ast.Attribute() | ast.Call():
                if name := dotted(part):
                    yield name
                if isinstance(part, ast.Call) and not read_by_getattr(part):
                    stack += reversed(part.args)
            case _:
                stack += reversed([child for child in ast.iter_child_nodes(part) if isinstance(child, ast.expr)])


def target_names(target: ast.expr) -> Iterator[str]:
    """The plain names that an assignment to this target binds."""
    stack = [target]
    while stack:
        node = stack.pop()
        match node:
            case ast.Name():
                yield node.id
            case ast.Tuple() | ast.List():
                stack += reversed(node.elts)
            case ast.Starred():
                stack.append(node.value)


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
    if kind in _LITERALS and kind not in _DISPLAYS:
        return []
    found: list[tuple[str, str]] = []
    for node in _alternatives(value):
        if text := dotted(node):
            found.append(("", text))
        if node.__class__ in _DISPLAYS:
            if spelled := _TYPES.get(node.__class__, ""):
                found.append(("", spelled))
            found += entries(node)
    return found


def _alternatives(value: ast.expr) -> Iterator[ast.expr]:
    """What `a if c else b`, `a or b` and `{"k": a}[k]` choose from."""
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
            yield node


def entries(value: ast.expr, depth: int = 0) -> Iterator[tuple[str, str]]:
    """What a display of things holds: the text of each entry, with its key as a suffix, nested ones with several."""
    for name, part in _parts(value):
        for each in _alternatives(part):
            if text := dotted(each):
                yield f"[{name}]", text
            elif (kind := _TYPES.get(each.__class__, "")) and depth < _DEEPEST_ENTRY:
                inside = [(f"[{name}]{suffix}", text) for suffix, text in entries(each, depth + 1)]
                if inside:
                    yield f"[{name}]", kind
                    yield from inside


def _parts(value: ast.expr) -> Iterable[tuple[str, ast.expr]]:
    """The entries of a display, each with its key, '' where that is not written out."""
    match value:
        case ast.Dict():
            keys = [key(each) if each is not None else "" for each in value.keys]
            return zip(keys, value.values, strict=True)
        case ast.List() | ast.Tuple():
            is_plain = len(value.elts) <= _MOST_PARTS and ast.Starred not in {each.__class__ for each in value.elts}
            return [(str(place) if is_plain else "", each) for place, each in enumerate(value.elts)]
        case ast.Set():
            return [("", each) for each in value.elts]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return [("", value.elt)]
        case ast.DictComp():
            return [("", value.value)]
        case ast.Call(args=[(ast.List() | ast.Tuple() | ast.Dict() | ast.ListComp() | ast.GeneratorExp()) as inner]):
            return _parts(inner)
        case ast.Call(func=ast.Name(id="dict" | "OrderedDict"), keywords=keywords):
            return [(repr(each.arg or ""), each.value) for each in keywords]
    return ()
