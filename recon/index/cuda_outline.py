"""The first pass over a CUDA or C++ file: bytes to records, through tree-sitter and one walk.

The grammar meets macros that it cannot know. It then leaves error nodes, and a function that holds one, or lies under
one, is named in the outline's `problem`: what the records say of it may be short.
"""

from collections.abc import Callable, Iterable
from functools import cache

import tree_sitter_cuda
from msgspec.structs import replace
from tree_sitter import Language, Node, Parser

from recon.index import cuda_spell
from recon.index.cuda_spell import text_of
from recon.index.macro_bodies import as_functions
from recon.index.records import Bind, Call, Feature, Import, Outline, Parsed, Scope, ScopeKind, Text
from recon.index.rescue import unread
from recon.index.signs import CUDA_CALLS, Loop

MOST_BYTES = 8_000_000
_MOST_NAMED = 12
_LOOPS = frozenset({"for_statement", "while_statement", "do_statement", "for_range_loop"})
_LAUNCHERS = frozenset({"cudaLaunchKernel", "cudaLaunchKernelEx", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel"})
# Flags are ten times as slow to combine as numbers.
_LOOP, _NESTED_LOOP, _CHASE, _BREAK = map(int, (Feature.LOOP, Feature.NESTED_LOOP, Feature.CHASE, Feature.BREAK))
_COMPARE_EQ, _COMPARE_ORDER, _DIVIDE, _BIT = map(
    int, (Feature.COMPARE_EQ, Feature.COMPARE_ORDER, Feature.DIVIDE, Feature.BIT)
)
_INDEX_BY_INDEX, _STORE, _WHERE = map(int, (Feature.INDEX_BY_INDEX, Feature.STORE, Feature.WHERE))
_LAUNCH, _CUDA = int(Feature.LAUNCH), int(Feature.CUDA)
_CONSTANTS = frozenset({"number_literal", "string_literal", "char_literal", "true", "false", "null"})


def outline_cuda(data: bytes) -> Outline:
    """All records of a CUDA or C++ file. Never raises: what cannot be read is said in `parsed` and `problem`."""
    if len(data) > MOST_BYTES:
        return unread(f"{len(data)} bytes: too large to parse")
    if b"\0" in data:
        return unread("holds NUL bytes, so it is no C++ source")
    return read_cuda(as_functions(data))


def read_cuda(data: bytes) -> Outline:
    """All records of C++ or CUDA whose macros with bodies were written as functions."""
    root = _parser().parse(data).root_node
    reader = _Reader(root)
    reader.read()
    parsed, problem = _state(root, reader.broken)
    return Outline(
        parsed,
        problem,
        tuple(reader.scopes),
        tuple(reader.calls),
        tuple(reader.imports),
        tuple(reader.binds),
        tuple(reader.texts),
    )


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_cuda.language()))


def _state(root: Node, broken: list[str]) -> tuple[Parsed, str]:
    if not root.has_error:
        return Parsed.FULL, ""
    if broken:
        shown = ", ".join(broken[:_MOST_NAMED])
        more = f" and {len(broken) - _MOST_NAMED} more" if len(broken) > _MOST_NAMED else ""
        return Parsed.PARTLY, f"the grammar fails inside {shown}{more}"
    lines = [node.start_point.row + 1 for node in root.children if node.is_error]
    if not lines:
        return Parsed.FULL, ""  # only macros in headings of functions, which hide no code
    return Parsed.PARTLY, f"the grammar fails between functions, at line {', '.join(map(str, lines[:_MOST_NAMED]))}"


class _Frame:
    """A scope while it is read."""

    __slots__ = ("bits", "id", "loaded", "loops", "outer")

    def __init__(self, scope: int, outer: "_Frame | None", bits: int = 0) -> None:
        self.id = scope
        self.outer = outer
        self.bits = bits
        self.loops: list[Loop] = []
        self.loaded: set[str] = set()


class _Reader:
    """One walk over one tree with a stack of nodes and of things to do when a scope or loop ends."""

    def __init__(self, root: Node) -> None:
        last = root.end_point.row + 1
        self.scopes = [Scope(0, -1, ScopeKind.MODULE, "", 1, 1, last, Feature(0), (), (), (), "")]
        self.calls: list[Call] = []
        self.imports: list[Import] = []
        self.binds: list[Bind] = []
        self.texts: list[Text] = []
        self.broken: list[str] = []
        self.frame = _Frame(0, None)
        self.stack: list[Node | Callable[[], None]] = [self.end_scope, *reversed(root.named_children)]
        self.under_error: set[int] = set()

    def read(self) -> None:
        """Walk the whole tree."""
        stack = self.stack
        pop = stack.pop
        while stack:
            item = pop()
            if not isinstance(item, Node):
                item()
                continue
            kind = item.kind_id  # a number of the grammar: the name would be made anew for each node
            if kind in _PLAIN:
                if item.named_child_count:
                    stack += reversed(item.named_children)
            elif (reads := _READERS.get(kind)) is not None:
                reads(self, item)
            else:
                _sort(kind, item.type)
                stack.append(item)

    def push(self, nodes: Iterable[Node | None]) -> None:
        """Leave nodes to be read next, in source order."""
        self.stack += reversed([node for node in nodes if node is not None])

    # Scopes -----------------------------------------------------------------------------------------------------------

    def function(self, node: Node) -> None:
        """Open the scope of a function that has a body."""
        declarator = cuda_spell.function_declarator(node)
        body = node.child_by_field_name("body")
        if declarator is None or body is None:
            self.push(node.named_children)
            return
        name = cuda_spell.name_of(declarator.child_by_field_name("declarator"))
        if body.has_error or node.id in self.under_error:
            self.broken.append(name)
        self.open_scope(
            node,
            ScopeKind.FUNCTION,
            name,
            params=cuda_spell.params(declarator.child_by_field_name("parameters")),
            decorators=cuda_spell.specifiers(node),
            returns=cuda_spell.type_name(node.child_by_field_name("type")),
        )
        self.push([child for child in node.named_children if child.type == "field_initializer_list"] + [body])

    def a_class(self, node: Node) -> None:
        """Open the scope of a class or struct that has a body."""
        body = node.child_by_field_name("body")
        name = node.child_by_field_name("name")
        if body is None or name is None:
            return
        clauses = [child for child in node.named_children if child.type == "base_class_clause"]
        bases = [cuda_spell.type_name(base) for clause in clauses for base in clause.named_children]
        self.open_scope(node, ScopeKind.CLASS, cuda_spell.name_of(name), bases=tuple(filter(None, bases)))
        self.push(body.named_children)

    def open_scope(self, node: Node, kind: ScopeKind, name: str, **known: object) -> None:
        """Enter a scope; its signs are filled in at its end."""
        scope = len(self.scopes)
        outer = node.parent if node.parent is not None and node.parent.type == "template_declaration" else node
        heading = node.child_by_field_name("declarator") or node
        row = Scope(
            scope,
            self.frame.id,
            kind,
            name,
            heading.start_point.row + 1,
            outer.start_point.row + 1,
            node.end_point.row + 1,
            Feature(0),
            (),
            (),
            (),
            "",
        )
        self.scopes.append(replace(row, **known))
        self.frame = _Frame(scope, self.frame, _CUDA)
        self.stack.append(self.end_scope)

    def end_scope(self) -> None:
        """Leave a scope."""
        frame = self.frame
        self.scopes[frame.id] = replace(self.scopes[frame.id], features=Feature(frame.bits))
        if frame.outer is not None:
            self.frame = frame.outer

    def error(self, node: Node) -> None:
        """Go on below an error node, and remember that it is one."""
        self.under_error.update(child.id for child in node.named_children)
        self.push(node.named_children)

    # Loops and jumps --------------------------------------------------------------------------------------------------

    def loop(self, node: Node) -> None:
        """Enter a loop; what a `for` sets up once lies outside."""
        frame = self.frame
        frame.bits |= _LOOP | (_NESTED_LOOP if frame.loops else 0)
        initializer = node.child_by_field_name("initializer")
        condition = node.child_by_field_name("condition")

        def enter() -> None:
            frame.loops.append(Loop(cuda_spell.ends_walk(condition)))

        self.stack.append(self.end_loop)
        self.push(child for child in node.named_children if child != initializer)
        self.stack.append(enter)
        self.push([initializer])

    def end_loop(self) -> None:
        """Leave a loop: what it carries from round to round is known now."""
        frame = self.frame
        loop = frame.loops.pop()
        if loop.is_chase():
            frame.bits |= _CHASE
        if not loop.addresses.isdisjoint(frame.loaded):
            frame.bits |= _INDEX_BY_INDEX

    def jump(self, node: Node) -> None:
        """Read `break` or `return`."""
        if self.frame.loops:
            self.frame.bits |= _BREAK
        self.push(node.named_children)

    # Expressions ------------------------------------------------------------------------------------------------------

    def call(self, node: Node) -> None:
        """Record a call or a kernel launch."""
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None:
            self.push(node.named_children)
            return
        given = [child for child in arguments.named_children if child.type != "comment"] if arguments else []
        launches = any(child.type == "kernel_call_syntax" for child in node.named_children)
        callee = cuda_spell.name_of(function)
        last = callee.rpartition("::")[2].rpartition(".")[2]
        if launches or last in _LAUNCHERS:
            self.frame.bits |= _LAUNCH
        self.frame.bits |= CUDA_CALLS.get(last, 0)
        name = f"{callee}[]" if launches and callee else callee
        args = tuple(cuda_spell.argument(arg) for arg in given)
        self.calls.append(Call(self.frame.id, name, function.start_point.row + 1, len(given), (), args))
        if last in cuda_spell.LOADS:
            self.address(given)
        self.push(node.named_children)

    def subscript(self, node: Node) -> None:
        """Read a subscript: its key is an address."""
        self.address([child for child in node.named_children if child.type == "subscript_argument_list"])
        self.push(node.named_children)

    def pointer(self, node: Node) -> None:
        """Read `*(p + i)`, an address, or `&x`, none."""
        if node.children and node.children[0].type == "*":
            self.address(node.named_children)
        self.push(node.named_children)

    def address(self, nodes: Iterable[Node]) -> None:
        """Take note of an address, and of a load that feeds it."""
        names, loads = cuda_spell.used(nodes)
        if loads or not names.isdisjoint(self.frame.loaded):
            self.frame.bits |= _INDEX_BY_INDEX
        for loop in self.frame.loops:
            loop.addresses |= names

    def binary(self, node: Node) -> None:
        """Read a comparison, a division or the look-up of a bit."""
        operator = node.child_by_field_name("operator")
        kind = operator.type if operator is not None else ""
        if kind in {"<", "<=", ">", ">="}:
            self.frame.bits |= _COMPARE_ORDER
        elif kind in {"==", "!=", "/"}:
            sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
            if not any(side is None or cuda_spell.is_constant(side) for side in sides):
                self.frame.bits |= _DIVIDE if kind == "/" else _COMPARE_EQ
        elif kind == "&" and cuda_spell.is_bit_lookup(node):
            self.frame.bits |= _BIT
        self.push(node.named_children)

    def conditional(self, node: Node) -> None:
        """Read `a ? b : c`."""
        self.frame.bits |= _WHERE
        self.push(node.named_children)

    def string(self, node: Node) -> None:
        """Keep a string that could name something; of an operator's schema, its name."""
        parent = node.parent.type if node.parent is not None else ""
        if word := cuda_spell.word(node):
            role = "argument" if parent == "argument_list" else "value"
            self.texts.append(Text(self.frame.id, word, role, node.start_point.row + 1))

    # Assignments ------------------------------------------------------------------------------------------------------

    def assignment(self, node: Node) -> None:
        """Read `a = b` or `a += b`."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None:
            if left.type in {"subscript_expression", "pointer_expression"}:
                self.frame.bits |= _STORE
            operator = node.child_by_field_name("operator")
            if operator is not None and operator.type == "/=" and not cuda_spell.is_constant(right):
                self.frame.bits |= _DIVIDE
            if left.type == "identifier":
                self.flow(text_of(left), right, plain=operator is None or operator.type == "=")
        self.push(node.named_children)

    def declaration(self, node: Node) -> None:
        """Read `T a = b`: a type, and often the value, of a name."""
        kind = cuda_spell.type_name(node.child_by_field_name("type"))
        for declared in node.children_by_field_name("declarator"):
            name = cuda_spell.declared_name(declared)
            value = declared.child_by_field_name("value") if declared.type == "init_declarator" else None
            spelled = cuda_spell.argument(value) if value is not None and not cuda_spell.is_constant(value) else ""
            if name and value is not None:
                self.flow(name, value)
            if name and (kind or spelled):
                row = node.start_point.row + 1
                self.binds.append(Bind(self.frame.id, name, spelled, "" if kind == "auto" else kind, row))
        self.push(node.named_children)

    def flow(self, name: str, value: Node, *, plain: bool = True) -> None:
        """Note what a name is assigned from."""
        frame = self.frame
        used, _ = cuda_spell.used([value])
        addresses, loads = cuda_spell.addressed(value)
        if loads or not used.isdisjoint(frame.loaded):
            frame.loaded.add(name)
        elif plain:
            frame.loaded.discard(name)
        for loop in frame.loops:
            if plain or addresses:
                loop.flows.append(([name], used, addresses))
            loop.assigned.add(name)

    def include(self, node: Node) -> None:
        """Record an include."""
        path = node.child_by_field_name("path")
        if path is not None:
            self.imports.append(Import(0, text_of(path).strip('"<>'), "", "", node.start_point.row + 1))


_NODES: dict[str, Callable[[_Reader, Node], None]] = {
    "function_definition": _Reader.function,
    "class_specifier": _Reader.a_class,
    "struct_specifier": _Reader.a_class,
    "ERROR": _Reader.error,
    **dict.fromkeys(_LOOPS, _Reader.loop),
    "break_statement": _Reader.jump,
    "return_statement": _Reader.jump,
    "call_expression": _Reader.call,
    "subscript_expression": _Reader.subscript,
    "pointer_expression": _Reader.pointer,
    "binary_expression": _Reader.binary,
    "conditional_expression": _Reader.conditional,
    "string_literal": _Reader.string,
    "assignment_expression": _Reader.assignment,
    "declaration": _Reader.declaration,
    "preproc_include": _Reader.include,
    "comment": lambda _, __: None,
}
_READERS: dict[int, Callable[[_Reader, Node], None]] = {}
"""The same by the grammar's numbers, of which one name may have several, as far as they were met."""
_PLAIN: set[int] = set()
"""Numbers of the kinds of nodes that only hold others."""


def _sort(kind: int, name: str) -> None:
    """Learn how a kind of node is read."""
    reads = _NODES.get(name)
    if reads is None:
        _PLAIN.add(kind)
    else:
        _READERS[kind] = reads
