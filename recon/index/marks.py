"""What a walk over statements leaves on its stack, to learn where a body begins and ends."""

import ast
from collections.abc import Sequence


class EndLoop(ast.AST):
    """Left on the stack below the body of a loop."""


class Fork(ast.AST):
    """Left on the stack above a body that runs if a test holds."""

    def __init__(self, test: str, head: int, line: int, body: Sequence[ast.stmt]) -> None:
        super().__init__()
        self.branch = test, head, line, body[0].lineno, body[-1].end_lineno or body[-1].lineno


class EndFork(ast.AST):
    """Left on the stack below such a body."""


class EndBranch(ast.AST):
    """Left on the stack below what runs only under a condition, or in a loop."""

    def __init__(self, outside: int) -> None:
        super().__init__()
        self.outside = outside


class EndScope(ast.AST):
    """Left on the stack below the body of a scope."""
