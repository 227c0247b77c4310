"""CUDA and C++ functions, through tree-sitter, into the same Terms as Python.

A counting `for` becomes `for(target, range(lo, hi))`; other C loops become a `while` with their parts inside. Casts,
references, pointers and parentheses vanish: a shape asks what is loaded, not through which type.
"""

from collections.abc import Callable, Iterable, Iterator

import tree_sitter

from recon.index.cuda_callables import lambda_of, of_class
from recon.index.cuda_code import Code, Tree
from recon.index.cuda_kinds import ARITHMETIC, COMPARISONS, LITERALS, TRANSPARENT
from recon.index.cuda_maps import LOOKUPS, looked_up
from recon.index.term import NONE, Term, name

_WITH_BODIES = frozenset({"declaration", "expression_statement", "return_statement"})
_INNER = "inner"
"""Marks the block of a lambda, whose `return` ends only itself."""


def functions(tree: Tree, around: int | None = None) -> Iterator[tuple[int, int, Term]]:
    """The function definitions of a file.

    Args:
        tree: The syntax tree of the file.
        around: A line, counted from 1: only what lies around it is read, since headers of thousands of functions are
            asked for a few. None for all.

    Yields:
        (first, last, Term): the lines of the definition, counted from 1, and its `def` Term. Where the grammar takes
        one definition for a part of another, both are given.
    """
    for node in _descend(tree.root_node, None if around is None else around - 1):
        if node.type == "function_definition":
            yield node.start_point[0] + 1, node.end_point[0] + 1, _function(node)


def function_name(node: tree_sitter.Node) -> str:
    """Name of a function definition, without its namespace; '' if the grammar found none."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type not in ("identifier", "field_identifier", "qualified_identifier"):
        inner = declarator.child_by_field_name("declarator")
        declarator = inner if inner is not None else next(iter(declarator.named_children), None)
    return _text(declarator).rsplit("::", 1)[-1] if declarator is not None else ""


def _function(node: tree_sitter.Node) -> Term:
    body = node.child_by_field_name("body")
    block = Term("block") if body is None else _block(body)
    return Term("def", function_name(node), (block,), _line(node))


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"")[:200].decode("utf-8", "replace")


def _line(node: tree_sitter.Node) -> int:
    return int(node.start_point[0]) + 1


def _block(node: tree_sitter.Node) -> Term:
    """A compound statement, or the single statement that stands for one."""
    return _flat(node.named_children if node.type in ("compound_statement", "else_clause") else [node], _line(node))


def _flat(nodes: Iterable[tree_sitter.Node], line: int) -> Term:
    parts: list[Term] = []
    for node in nodes:
        part = _statement(node)
        if part.op == "block" and not part.text:
            parts.extend(part.parts)
        elif part.op != "none":
            parts.append(part)
    return Term("block", "", tuple(parts), line)


def _statement(node: tree_sitter.Node) -> Term:
    reader = _STATEMENTS.get(node.type)
    read = reader(node) if reader else NONE
    if node.type not in _WITH_BODIES or b"{" not in (node.text or b""):
        return read
    within = [body for body in _inner_bodies(node) if body.named_children]
    before = read.parts if read.op == "block" else () if read.op == "none" else (read,)
    inner = (Term("block", _INNER, _block(body).parts, _line(body)) for body in within)
    return Term("block", "", (*before, *inner), _line(node))


def _inner_bodies(statement: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """Bodies of the lambdas, and of the macros' blocks, that stand in a statement; not those inside of one another.

    A lambda that only computes something is an expression, and stays what it is.
    """
    stack = [statement]
    while stack:
        node = stack.pop()
        if node.type == "compound_statement":
            if node.parent is None or node.parent.type != "lambda_expression" or not _only_returns(node):
                yield node
        else:
            stack.extend(reversed(node.named_children))


def _only_returns(body: tree_sitter.Node) -> bool:
    statements = [child.type for child in body.named_children if child.type != "comment"]
    return statements == ["return_statement"]


def _conditional_code(node: tree_sitter.Node) -> Term:
    """What stands under `#if`: its branches one after another, since any may be compiled; `#if 0` is left out."""
    condition = node.child_by_field_name("condition")
    alternative = node.child_by_field_name("alternative")
    skipped = {part.id for part in (condition, node.child_by_field_name("name"), alternative) if part is not None}
    never = node.type in ("preproc_if", "preproc_elif") and condition is not None and _text(condition) == "0"
    children = [] if never else [child for child in node.named_children if child.id not in skipped]
    return _flat([*children, *(() if alternative is None else (alternative,))], _line(node))


def _declaration(node: tree_sitter.Node) -> Term:
    parts = []
    for child in node.children_by_field_name("declarator"):
        value = child.child_by_field_name("value")
        target = child.child_by_field_name("declarator")
        if child.type == "init_declarator" and value is not None and target is not None:
            made = of_class(node.child_by_field_name("type"), _expression(value))
            parts.append(Term("assign", "", (_declared(target), made), _line(child)))
    return Term("block", "", tuple(parts), _line(node))


def _declared(node: tree_sitter.Node) -> Term:
    """The name under pointer, reference and array declarators."""
    while node.type != "identifier":
        inner = node.child_by_field_name("declarator") or next(iter(node.named_children), None)
        if inner is None:
            return NONE
        node = inner
    return name(_text(node), _line(node))


def _expression_statement(node: tree_sitter.Node) -> Term:
    value = _expression(node.named_children[0]) if node.named_children else NONE
    if value.op == "none" or (value.op == "op" and value.text == "<<"):
        return NONE  # what is printed to a stream is no result
    return _as_statement(value, _line(node))


def _as_statement(value: Term, line: int) -> Term:
    """An expression in statement position: assignments are statements in Terms."""
    if value.op in ("assign", "block"):
        return value
    return Term("do", "", (value,), line)


def _if(node: tree_sitter.Node) -> Term:
    consequence = node.child_by_field_name("consequence")
    alternative = node.child_by_field_name("alternative")
    parts = (
        _expression(node.child_by_field_name("condition")),
        Term("block") if consequence is None else _block(consequence),
        Term("block") if alternative is None else _block(alternative),
    )
    if not any(part.parts for part in parts[1:]) and all(part.op not in ("assign", "call") for part in parts[0].walk()):
        return NONE  # it guards nothing but what is printed
    return Term("if", "", parts, _line(node))


def _while(node: tree_sitter.Node) -> Term:
    body = node.child_by_field_name("body")
    parts = (_expression(node.child_by_field_name("condition")), Term("block") if body is None else _block(body))
    return Term("while", "", parts, _line(node))


def _for(node: tree_sitter.Node) -> Term:
    """A counting loop becomes a range; every other one a while with its start before and its step inside."""
    start = node.child_by_field_name("initializer")
    test = _expression(node.child_by_field_name("condition"))
    step = _expression(node.child_by_field_name("update"))
    body_node = node.child_by_field_name("body")
    body = Term("block") if body_node is None else _block(body_node)
    line = _line(node)
    begin = NONE if start is None else (_statement(start) if start.type == "declaration" else _expression(start))
    first = begin.parts[0] if begin.op == "block" and len(begin.parts) == 1 else begin
    counts = step.op == "assign" and step.text in ("+", "-")  # `c = next[c]` is a walk, not a count
    counts = counts and first.op == "assign" and first.parts[0].text == step.parts[0].text
    if counts and test.op == "compare" and any(part.text == first.parts[0].text for part in test.parts):
        bound = test.parts[1] if test.parts[0].text == first.parts[0].text else test.parts[0]
        over = Term("call", "", (name("range", line), first.parts[1], bound), line)
        return Term("for", "", (first.parts[0], over, body), line)
    inside = Term("block", "", (*body.parts, *(() if step.op == "none" else (_as_statement(step, line),))), line)
    loop = Term("while", "", (test, inside), line)
    before = begin.parts if begin.op == "block" else () if begin.op == "none" else (_as_statement(begin, line),)
    return Term("block", "", (*before, loop), line) if before else loop


def _range_for(node: tree_sitter.Node) -> Term:
    target, body = node.child_by_field_name("declarator"), node.child_by_field_name("body")
    over = _expression(node.child_by_field_name("right"))
    each = NONE if target is None else _declared(target)
    return Term("for", "", (each, over, Term("block") if body is None else _block(body)), _line(node))


def _switch(node: tree_sitter.Node) -> Term:
    subject = _expression(node.child_by_field_name("condition"))
    body = node.child_by_field_name("body")
    branches = []
    for case in body.named_children if body is not None else []:
        statements = [part for child in case.named_children if (part := _statement(child)).op not in ("none", "break")]
        branches.append(
            Term("if", "match", (subject, Term("block", "", tuple(statements)), Term("block")), _line(case))
        )
    return Term("block", "", tuple(branches), _line(node))


def _return(node: tree_sitter.Node) -> Term:
    parts = tuple(_expression(child) for child in node.named_children if child.type != "comment")
    return Term("return", "", parts, _line(node))


def _expression(node: tree_sitter.Node | None) -> Term:
    if node is None:
        return NONE
    kind = node.type
    if kind in ("identifier", "field_identifier", "this", "namespace_identifier"):
        return name(_text(node), _line(node))
    if kind in LITERALS:
        return Term("const", _text(node)[:80], (), _line(node))
    if kind in TRANSPARENT:
        value = node.child_by_field_name("value") or node.child_by_field_name("argument")
        if value is None:
            value = next((child for child in reversed(node.named_children) if child.type != "comment"), None)
        return _expression(value)
    reader = _EXPRESSIONS.get(kind)
    return reader(node) if reader else Term("other", kind, (), _line(node))


def _field(node: tree_sitter.Node) -> Term:
    field = node.child_by_field_name("field")
    label = _text(field).split("<", 1)[0] if field is not None else ""
    value = _expression(node.child_by_field_name("argument"))
    if label == "second" and (node.text or b"").endswith(b"->second"):
        return value  # what is held under the key that was found
    return Term("attr", label, (value,), _line(node))


def _qualified(node: tree_sitter.Node) -> Term:
    return name(_text(node).split("<", 1)[0].rsplit("::", 1)[-1], _line(node))


def _subscript(node: tree_sitter.Node) -> Term:
    base = _expression(node.child_by_field_name("argument"))
    indices = node.child_by_field_name("indices")
    keys = map(_expression, indices.named_children if indices is not None else [])
    return Term("index", "", (base, *keys), _line(node))


def _pointer(node: tree_sitter.Node) -> Term:
    """`*(p + i)` is `p[i]`; of `*p` and `&x` the name is left."""
    value = _expression(node.child_by_field_name("argument"))
    operator = node.child_by_field_name("operator")
    if operator is None or _text(operator) != "*" or value.op != "op":
        return value
    return _pointed(value, _line(node))


def _pointed(pointer: Term, line: int) -> Term:
    """What lies where a pointer points: of `p + i + j` the pointer comes first."""
    base, keys = pointer, list[Term]()
    while base.op == "op" and base.text == "+":
        base, key = base.parts
        keys.append(key)
    if not keys:
        return Term("index", "", (pointer,), line)
    offset = keys.pop()
    while keys:
        offset = Term("op", "+", (offset, keys.pop()), line)
    return Term("index", "", (base, offset), line)


def _call(node: tree_sitter.Node) -> Term:
    function = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    values = [child for child in (arguments.named_children if arguments is not None else []) if child.type != "comment"]
    callee = _expression(function)
    if callee.text in ("static_cast", "reinterpret_cast", "__ldg", "const_cast") and len(values) == 1:
        inner = _expression(values[0])
        return _pointed(inner, _line(node)) if callee.text == "__ldg" else inner
    if function is not None and function.type == "primitive_type" and len(values) == 1:
        return _expression(values[0])
    if callee.op == "attr" and callee.text in LOOKUPS and len(values) == 1:
        return looked_up(callee, _expression(values[0]), _line(node))
    if any(child.type == "kernel_call_syntax" for child in node.named_children):
        # `kernel<<<grid, block>>>(args)` takes the form of Triton's `kernel[grid](args)`.
        callee = Term("index", "", (callee, NONE), _line(node))
    return Term("call", "", (callee, *map(_expression, values)), _line(node))


def _binary(node: tree_sitter.Node) -> Term:
    left = _expression(node.child_by_field_name("left"))
    right = _expression(node.child_by_field_name("right"))
    operator = node.child_by_field_name("operator")
    sign = _text(operator) if operator is not None else "?"
    if sign in COMPARISONS:
        return Term("compare", sign, (left, right), _line(node))
    if sign in ("&&", "and"):
        return Term("and", "", (left, right), _line(node))
    if sign in ("||", "or"):
        return Term("or", "", (left, right), _line(node))
    return Term("op", sign if sign in ARITHMETIC else "?", (left, right), _line(node))


def _unary(node: tree_sitter.Node) -> Term:
    operator = node.child_by_field_name("operator")
    value = _expression(node.child_by_field_name("argument"))
    sign = _text(operator) if operator is not None else ""
    if sign in ("!", "~", "not"):
        return Term("not", "", (value,), _line(node))
    if sign == "-":
        return Term("const", f"-{value.text}") if value.op == "const" else Term("neg", "", (value,), _line(node))
    return value


def _assignment(node: tree_sitter.Node) -> Term:
    target = node.child_by_field_name("left")
    if target is not None and target.type.startswith("template_"):
        return _misread_comparison(node)
    operator = node.child_by_field_name("operator")
    sign = _text(operator).removesuffix("=") if operator is not None else ""
    left = _expression(target)
    return Term("assign", sign, (left, _expression(node.child_by_field_name("right"))), _line(node))


def _misread_comparison(node: tree_sitter.Node) -> Term:
    """`a < b || c >= d`, which the grammar takes for an assignment to the template `a<b || c>`.

    The text is read again with `==` in place of `>=`: the two bind alike here, and `==` closes no template.
    """
    text = node.text or b""
    again = Code(b"auto x = (" + text.replace(b">=", b"==") + b");").tree().root_node
    value = next((child for child in _descend(again) if child.type == "init_declarator"), None)
    read = _expression(value.child_by_field_name("value")) if value is not None else NONE
    return _relabelled(read, _line(node), b"==" in text)


def _descend(node: tree_sitter.Node, row: int | None = None) -> Iterator[tree_sitter.Node]:
    """A node and all below it in source order; with a row, counted from 0, only what lies on both sides of it."""
    stack = [node]
    while stack:
        node = stack.pop()
        if row is None or node.start_point[0] <= row <= node.end_point[0]:
            yield node
            stack.extend(reversed(node.named_children))


def _relabelled(term: Term, line: int, keep_equality: bool) -> Term:
    sign = ">=" if term.op == "compare" and term.text == "==" and not keep_equality else term.text
    return Term(term.op, sign, tuple(_relabelled(part, line, keep_equality) for part in term.parts), line)


def _update(node: tree_sitter.Node) -> Term:
    operator = node.child_by_field_name("operator")
    sign = "-" if operator is not None and _text(operator) == "--" else "+"
    parts = (_expression(node.child_by_field_name("argument")), Term("const", "1", (), _line(node)))
    return Term("assign", sign, parts, _line(node))


def _conditional(node: tree_sitter.Node) -> Term:
    fields = ("condition", "consequence", "alternative")
    return Term("select", "", tuple(_expression(node.child_by_field_name(field)) for field in fields), _line(node))


def _lambda(node: tree_sitter.Node) -> Term:
    """A lambda as a value is all that its body does, wherever it is called; the body is laid out where it stands, too.

    Of one that holds others only what it returns is read here: to read all for each one around takes twice as long a
    level.
    """
    body = node.child_by_field_name("body")
    if body is None:
        return lambda_of(node, Term("block"), _line(node))
    returns: list[Term] = []
    stack, is_leaf = [body], True
    while stack:
        part = stack.pop()
        if part.type == "lambda_expression":
            is_leaf = False
        elif part.type == "return_statement":
            returns.append(_return(part))
        else:
            stack.extend(reversed(part.named_children))
    is_leaf = is_leaf and not any(part.op == "lambda" for found in returns for part in found.walk())
    inside = _block(body) if is_leaf else Term("block", "", tuple(returns), _line(body))
    return lambda_of(node, inside, _line(node))


def _comma(node: tree_sitter.Node) -> Term:
    return Term("tuple", "", tuple(_expression(child) for child in node.named_children), _line(node))


_STATEMENTS: dict[str, Callable[[tree_sitter.Node], Term]] = {
    "declaration": _declaration,
    "expression_statement": _expression_statement,
    "compound_statement": _block,
    "if_statement": _if,
    "while_statement": _while,
    "do_statement": _while,
    "for_statement": _for,
    "for_range_loop": _range_for,
    "switch_statement": _switch,
    "return_statement": _return,
    "break_statement": lambda node: Term("break", "", (), _line(node)),
    "continue_statement": lambda node: Term("continue", "", (), _line(node)),
    **dict.fromkeys(
        ("preproc_if", "preproc_ifdef", "preproc_elif", "preproc_elifdef", "preproc_else"), _conditional_code
    ),
    "labeled_statement": lambda node: _block(node.named_children[-1]) if node.named_children else NONE,
}
_EXPRESSIONS: dict[str, Callable[[tree_sitter.Node], Term]] = {
    "field_expression": _field,
    "qualified_identifier": _qualified,
    "template_function": _qualified,
    "template_method": _qualified,
    "subscript_expression": _subscript,
    "pointer_expression": _pointer,
    "call_expression": _call,
    "binary_expression": _binary,
    "unary_expression": _unary,
    "assignment_expression": _assignment,
    "update_expression": _update,
    "conditional_expression": _conditional,
    "lambda_expression": _lambda,
    "comma_expression": _comma,
    "initializer_list": _comma,
    "argument_list": _comma,
}
