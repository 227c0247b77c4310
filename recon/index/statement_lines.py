"""Lines of the statements of a function, by the standard parser, in the order in which they stand in the source."""

import ast
import warnings
from collections.abc import Iterator


def statement_lines(text: bytes) -> list[int]:
    """Lines of the statements of the first function, in source order; nested classes count as one statement."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    outer = tree.body[0]
    body = outer.body if isinstance(outer, ast.If) else tree.body
    first = next((node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)), None)
    lines: list[int] = []
    stack: list[ast.stmt] = [first] if first is not None else []
    while stack:
        node = stack.pop()
        lines.append(node.lineno)
        stack.extend(reversed(list(_inner(node))))
    return lines


def _inner(node: ast.stmt) -> Iterator[ast.stmt]:
    if isinstance(node, ast.ClassDef):
        return
    for field in ("body", "cases", "handlers", "orelse", "finalbody"):
        for child in getattr(node, field, ()):
            yield from (child,) if isinstance(child, ast.stmt) else child.body
