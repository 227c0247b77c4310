"""Which statements of Python can run, by what is written alone: nothing below a constant, or behind an exit."""

import ast
from collections.abc import Iterator, Sequence

_EXITS = frozenset({ast.Return, ast.Raise, ast.Break, ast.Continue})


def live(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """The statements of a suite up to the first that always leaves it."""
    for place, statement in enumerate(body):
        kind = statement.__class__
        if kind in _EXITS or (kind is ast.If and _leaves(statement)):
            return body[: place + 1]
    return body


def taken(node: ast.If) -> Sequence[ast.stmt] | None:
    """The only branch that can run; None where a test decides."""
    if isinstance(node.test, ast.Constant):
        return node.body if node.test.value else node.orelse
    return None


def is_never_entered(node: ast.While) -> bool:
    """`while False`, `while 0`."""
    return isinstance(node.test, ast.Constant) and not node.test.value


def undefined_in(node: ast.If) -> Iterator[ast.stmt]:
    """The definitions in a branch that no run enters: of a constant, or of `TYPE_CHECKING`."""
    if isinstance(node.test, ast.Constant):
        body = node.orelse if node.test.value else node.body
    elif "TYPE_CHECKING" in (getattr(node.test, "id", ""), getattr(node.test, "attr", "")):
        body = node.body
    else:
        return
    for statement in body:
        for each in ast.walk(statement):
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield each


def _leaves(statement: ast.stmt) -> bool:
    """Whether nothing behind a statement runs."""
    if not isinstance(statement, ast.If):
        return statement.__class__ in _EXITS
    branch = taken(statement)
    branches = (statement.body, statement.orelse) if branch is None else (branch,)
    return all(each and _leaves(each[-1]) for each in branches)
