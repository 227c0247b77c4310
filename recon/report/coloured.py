"""Source lines with the colours of their language, as text in which marks stand: no markup, so nothing to escape.

A coloured piece is `OPEN`, one letter for its class, the piece, `CLOSE`. Both marks are of the private use area, which
`visible` writes out wherever a tree has them, so that no source can forge one.
"""

from collections.abc import Sequence
from functools import cache
from itertools import groupby
from keyword import kwlist
from typing import ClassVar

from pygments import lex
from pygments.lexer import Lexer, inherit
from pygments.lexers.c_like import CudaLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.special import TextLexer
from pygments.token import Comment, Keyword, Name, Number, String, Text

from recon.report.text import clipped, visible

OPEN, CLOSE = "\ue000", "\ue001"
LINE = 240
"""Characters of a source line that are shown; a longer one is cut."""

_NAME = rf"(?!__|(?:{'|'.join(kwlist)})\b)[A-Za-z_][A-Za-z0-9_]*+(?![\w\"'])"
_PLAIN = rf"(?<=[^\n])(?:[^\S\n]|{_NAME}|[-~+/*%=<>&^|:(),;\[\]{{}}]|\.(?!\d))+"
_CLASSES = ((Comment, "c"), (Keyword, "k"), (String, "s"), (Number, "m"), (Name.Decorator, "d"), (Name.Function, "f"))


def coloured(path: str, lines: Sequence[str]) -> str:
    r"""Lines of source, each complete in itself, joined by `\n`.

    Args:
        path: Decides the language, by its end.
        lines: As they stand in the file.
    """
    text = "\n".join(clipped(visible(line.expandtabs(4)), LINE) for line in lines)
    tokens = lex(text, _lexer(_language(path)))
    pieces = groupby(tokens, key=lambda token: _style(token[0]))
    return "".join(_marked("".join(text for _, text in some), style) for style, some in pieces)


def _marked(text: str, style: str) -> str:
    """A piece with its marks, which end with each line."""
    if not style:
        return text
    return "\n".join(f"{OPEN}{style}{line}{CLOSE}" if line else "" for line in text.split("\n"))


@cache
def _style(token: object) -> str:
    return next((style for kind, style in _CLASSES if token in kind), "")


def _language(path: str) -> str:
    suffix = path.rpartition(".")[2]
    if suffix in ("py", "pyi"):
        return "python"
    return "cuda" if suffix in ("cu", "cuh", "h", "hpp", "cpp", "cc", "c") else ""


class _Python(PythonLexer):  # type: ignore[misc]  # Pygments has no types
    """The lexer of Python, which takes what has no colour in one bite instead of trying fifty rules a word.

    A bite begins behind the first token of a line, since some rules look at how a line begins; it leaves out all that
    could be a keyword, a special name, a number, a decorator or the prefix of a string.
    """

    tokens: ClassVar = {"root": [(_PLAIN, Text), inherit]}


@cache
def _lexer(language: str) -> Lexer:
    kind = {"python": _Python, "cuda": CudaLexer}.get(language, TextLexer)
    return kind(stripnl=False, ensurenl=False)
