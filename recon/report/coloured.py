"""Source lines with the colours of their language, as text in which marks stand: no markup, so nothing to escape.

A coloured piece is `OPEN`, one letter for its class, the piece, `CLOSE`. Both marks are of the private use area, which
`visible` writes out wherever a tree has them, so that no source can forge one.
"""

from collections.abc import Sequence
from functools import cache

from pygments import lex
from pygments.lexer import Lexer
from pygments.lexers.c_like import CudaLexer
from pygments.lexers.python import PythonLexer
from pygments.lexers.special import TextLexer
from pygments.token import Comment, Keyword, Name, Number, String

from recon.report.text import clipped, visible

OPEN, CLOSE = "\ue000", "\ue001"
LINE = 240
"""Characters of a source line that are shown; a longer one is cut."""

_CLASSES = ((Comment, "c"), (Keyword, "k"), (String, "s"), (Number, "m"), (Name.Decorator, "d"), (Name.Function, "f"))


def coloured(path: str, lines: Sequence[str]) -> str:
    r"""Lines of source, each complete in itself, joined by `\n`.

    Args:
        path: Decides the language, by its end.
        lines: As they stand in the file.
    """
    shown = [clipped(visible(line.expandtabs(4)), LINE) for line in lines]
    made = [""]
    for token, text in lex("\n".join(shown), _lexer(_language(path))):
        style = next((style for kind, style in _CLASSES if token in kind), "")
        first, *rest = [f"{OPEN}{style}{part}{CLOSE}" if style and part else part for part in text.split("\n")]
        made[-1] += first
        made.extend(rest)
    return "\n".join(made[: len(shown)])


def _language(path: str) -> str:
    suffix = path.rpartition(".")[2]
    if suffix in ("py", "pyi"):
        return "python"
    return "cuda" if suffix in ("cu", "cuh", "h", "hpp", "cpp", "cc", "c") else ""


@cache
def _lexer(language: str) -> Lexer:
    kind = {"python": PythonLexer, "cuda": CudaLexer}.get(language, TextLexer)
    return kind(stripnl=False, ensurenl=False)
