"""What a walk over statements leaves on its stack, to learn where a body begins and ends."""

import ast
from collections.abc import Sequence


class EndLoop:
    """Left on the stack below the body of a loop."""


class Fork:
    """Left on the stack above a body that runs if a test holds."""

    def __init__(self, test: str, head: int, line: int, body: Sequence[ast.stmt]) -> None:
        self.branch = test, head, line, body[0].lineno, body[-1].end_lineno or body[-1].lineno


class EndFork:
    """Left on the stack below such a body."""


class EndBranch:
    """Left on the stack below what runs only under a condition, or in a loop."""

    def __init__(self, outside: int) -> None:
        self.outside = outside


class EndScope:
    """Left on the stack below the body of a scope."""
