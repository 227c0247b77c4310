"""Terms as text, so that a test can say in one line what it expects."""

from textwrap import dedent

from recon.index.cuda_code import Code
from recon.index.cuda_terms import functions
from recon.index.python_terms import read_function
from recon.index.term import Term

_BARE = {"name", "const"}


def spelled(term: Term) -> str:
    """A Term as an s-expression: names and literals bare, everything else `(op:text part ...)`."""
    if term.op in _BARE:
        return term.text
    head = f"{term.op}:{term.text}" if term.text else term.op
    return f"({' '.join((head, *map(spelled, term.parts)))})"


def python(source: str, first_line: int = 1) -> Term:
    """The Term of the one function in a Python source."""
    return read_function(dedent(source).lstrip("\n").encode(), first_line)


def cuda(source: str) -> Term:
    """The Term of the first function in a CUDA source."""
    return next(iter(functions(Code(dedent(source).lstrip("\n").encode()).tree())))[2]


def statements(term: Term) -> list[str]:
    """The statements of a function's body, each spelled."""
    return [spelled(part) for part in term.parts[0].parts]


def lines(term: Term) -> list[tuple[str, int]]:
    """The statements of a function in source order, with their lines; blocks and expressions left out."""
    wanted = {"assign", "for", "while", "if", "break", "continue", "return", "do", "def", "assert", "raise"}
    return [(part.op, part.line) for part in term.walk() if part.op in wanted]
