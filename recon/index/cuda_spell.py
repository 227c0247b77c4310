"""How parts of a CUDA or C++ file are spelled in records: names without template arguments, arguments, parameters."""

import re
from collections.abc import Iterable

from tree_sitter import Node

from recon.index.records import Param
from recon.index.spell import words

LOADS = frozenset({"__ldg", "ldg", "ld_global", "__ldcg", "__ldcs"})
_MOST_ARGUMENT = 40
_MOST_NAME = 200
_CONSTANTS = frozenset({"number_literal", "string_literal", "char_literal", "true", "false", "null"})
_SPECIFIERS = words(
    "__global__ __device__ __host__ __forceinline__ __noinline__ launch_bounds storage_class_specifier type_qualifier "
    "virtual explicit_function_specifier virtual_function_specifier"
)
_DECLARATORS = words(
    "pointer_declarator reference_declarator init_declarator array_declarator parenthesized_declarator "
    "attributed_declarator abstract_pointer_declarator abstract_reference_declarator"
)
_NAMES = words(
    "operator_name destructor_name identifier field_identifier type_identifier namespace_identifier this "
    "primitive_type operator_cast auto decltype"
)
_SUFFIXES = {"call_expression": "()", "subscript_expression": "[]"}
_INNER = {
    "template_function": "name",
    "template_type": "name",
    "template_method": "name",
    "qualified_identifier": "name",
    "field_expression": "argument",
    "call_expression": "function",
    "subscript_expression": "argument",
    "cast_expression": "value",
    "parenthesized_expression": "",
    "pointer_expression": "",
    "dependent_name": "",
}
_MOST_PARTS = 24
_WORD = re.compile(r"-{0,2}[A-Za-z_][\w.:+/\-]{0,79}\Z")
_SCHEMA = re.compile(r"([A-Za-z_][\w.:]*)\(")


def text_of(node: Node) -> str:
    """Source of a node."""
    return (node.text or b"").decode(errors="replace")


def name_of(node: Node | None) -> str:
    """The name that a node spells, without template arguments; `a.b` for `a->b`, '' where there is none."""
    if node is not None and node.type in _NAMES:  # most are plain
        return text_of(node)[:_MOST_NAME]
    suffixes: list[str] = []
    prefixes: list[str] = []
    while node is not None and len(prefixes) + len(suffixes) < _MOST_PARTS:
        kind = node.type
        if kind in _NAMES:
            return "".join([*prefixes, text_of(node)[:_MOST_NAME], *reversed(suffixes)])
        if kind == "qualified_identifier":
            if (scope := node.child_by_field_name("scope")) is not None:
                prefixes += (name_of(scope), "::")
        elif kind == "field_expression":
            suffixes.append("." + name_of(node.child_by_field_name("field")))
        elif kind in _SUFFIXES:
            suffixes.append(_SUFFIXES[kind])
        elif kind not in _INNER:
            return ""
        node = _inside(node)
    return ""


def _inside(node: Node) -> Node | None:
    """The part of a node that goes on with its name."""
    field = _INNER.get(node.type)
    if field:
        return node.child_by_field_name(field)
    return node.named_children[-1] if node.named_children else None


def argument(node: Node) -> str:
    """An argument as its record shows it: a constant as source, a name, else ''."""
    return text_of(node)[:_MOST_ARGUMENT] if is_constant(node) else name_of(node)


def is_bit_lookup(node: Node) -> bool:
    """Whether a node is `(x[...] >> ...) & 1`, bare or in brackets."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    while left is not None and left.type == "parenthesized_expression":
        left = next(iter(left.named_children), None)
    if left is None or right is None or left.type != "binary_expression" or text_of(right).rstrip("uUlL") != "1":
        return False
    shift, shifted = left.child_by_field_name("operator"), left.child_by_field_name("left")
    return shift is not None and shift.type == ">>" and shifted is not None and shifted.type == "subscript_expression"


def is_constant(node: Node) -> bool:
    """Whether an operand is a literal, negated or not."""
    if node.type == "unary_expression" and node.named_children:
        return is_constant(node.named_children[-1])
    return node.type in _CONSTANTS


def function_declarator(node: Node) -> Node | None:
    """The part of a function's heading that holds its name and parameters."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        named = declarator.named_children
        declarator = declarator.child_by_field_name("declarator") or (named[-1] if named else None)
    return declarator


def declared_name(node: Node) -> str:
    """The name that a declarator declares, '' if it declares a function or nothing."""
    found: Node | None = node
    while found is not None and found.type in _DECLARATORS:
        found = found.child_by_field_name("declarator") or (found.named_children[-1] if found.named_children else None)
    return text_of(found) if found is not None and found.type in {"identifier", "field_identifier"} else ""


def type_name(node: Node | None) -> str:
    """A type without qualifiers and template arguments, '' if it is no plain name."""
    if node is None:
        return ""
    if node.type in {"placeholder_type_specifier", "primitive_type", "sized_type_specifier"}:
        return text_of(node)
    return name_of(node)


def specifiers(node: Node) -> tuple[str, ...]:
    """Words before a function's name: `__global__`, `static`, `template`, and macros that the grammar does not know."""
    words = ["template"] if node.parent is not None and node.parent.type == "template_declaration" else []
    stop = node.child_by_field_name("declarator")
    for child in node.children:
        if child == stop:
            break
        if child.type == "launch_bounds":
            words.append("__launch_bounds__")
        elif child.type in _SPECIFIERS:
            words.append(text_of(child))
        elif child.is_error:
            words.append(text_of(child)[:_MOST_ARGUMENT])
    return tuple(words)


def params(node: Node | None) -> tuple[Param, ...]:
    """The parameters of a function."""
    found = []
    for child in node.named_children if node is not None else ():
        if child.type not in {
            "parameter_declaration",
            "optional_parameter_declaration",
            "variadic_parameter_declaration",
        }:
            continue
        declarator = child.child_by_field_name("declarator")
        default = child.child_by_field_name("default_value")
        found.append(
            Param(
                declared_name(declarator) if declarator is not None else "",
                type_name(child.child_by_field_name("type")),
                text_of(default)[:60] if default is not None else "",
            )
        )
    return tuple(found)


def word(node: Node) -> str:
    """A string's content if it could name something; of `name(Tensor x) -> ()`, the name."""
    content = text_of(node)
    if content[:1] == content[-1:] == '"' and "\\" not in content:  # as most are: its children need not be made
        content = content[1:-1]
    else:
        content = "".join(text_of(child) for child in node.named_children if child.type == "string_content")
    if schema := _SCHEMA.match(content):
        return schema[1]
    return content if _WORD.match(content) else ""


def used(nodes: Iterable[Node]) -> tuple[set[str], bool]:
    """Names used in expressions, and whether they load: a subscript, `*p`, or a load by name."""
    names: set[str] = set()
    loads = False
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if node.type == "identifier":
            names.add(text_of(node))
        else:
            loads = loads or _reads(node)
            stack += node.named_children
    return names, loads


def addressed(value: Node) -> tuple[set[str], bool]:
    """Names used in the addresses of the loads of an expression, and whether there is a load."""
    names: set[str] = set()
    loads = False
    stack = [value]
    while stack:
        node = stack.pop()
        if _reads(node):
            loads = True
            is_subscript = node.type == "subscript_expression"
            inside = [c for c in node.named_children if not is_subscript or c.type == "subscript_argument_list"]
            names |= used(inside)[0]
        stack += node.named_children
    return names, loads


def _reads(node: Node) -> bool:
    """Whether a node reads memory by a computed address."""
    match node.type:
        case "subscript_expression":
            keys = [child for child in node.named_children if child.type == "subscript_argument_list"]
            return any(not is_constant(key) for part in keys for key in part.named_children)
        case "pointer_expression":
            return bool(node.children) and node.children[0].type == "*"
        case "call_expression":
            return name_of(node.child_by_field_name("function")).rpartition("::")[2] in LOADS
    return False


def ends_walk(condition: Node | None) -> set[str]:
    """Names that a loop's condition holds against an end: `cur != -1`, `cur >= 0`, `node != nullptr`, `node`."""
    names: set[str] = set()
    stack = [condition] if condition is not None else []
    while stack:
        node = stack.pop()
        if node.type == "identifier":
            names.add(text_of(node))
        elif node.type in {"condition_clause", "parenthesized_expression"}:
            stack += node.named_children
        elif node.type == "binary_expression":
            operator = node.child_by_field_name("operator")
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if operator is None or left is None or right is None:
                continue
            if operator.type in {"&&", "||", "and", "or"}:
                stack += (left, right)
            elif left.type == "identifier" and (operator.type, text_of(right)) in _ENDS:
                names.add(text_of(left))
    return names


_ENDS = frozenset({("!=", "-1"), (">", "-1"), (">=", "0"), ("!=", "nullptr"), ("!=", "NULL")})
