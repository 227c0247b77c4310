"""Untrusted words in Markdown: nothing that a tree or a host says becomes a mark, a link, a mention or a row."""

import re
from collections.abc import Iterable, Iterator

from recon.report.text import visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|&~$])|(://)|(?<!\w)(www)\.")
_MENTION = re.compile(r"@(?=\w)")


def plain(words: str) -> str:
    r"""Words that no Markdown gets out of. Sites that call people by `@name` are not made to: such words become code.

    >>> print(plain("a|b <i> http://x"))
    a\|b \<i\> http\://x
    """
    if _MENTION.search(words):
        return code(words).replace("|", r"\|")
    return _SPECIAL.sub(_escaped, visible(words))


def _escaped(found: re.Match[str]) -> str:
    mark, link, name = found.groups()
    return f"\\{mark}" if mark else rf"\{link}" if link else rf"{name}\."


def code(words: str) -> str:
    """Words as code, between more backticks than stand in them; nothing of no words."""
    shown = visible(words)
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{shown}{pad}{fence}" if shown else ""


def cell(words: str) -> str:
    """Words as code in a cell of a table; as plain words where a bar in them would end the cell."""
    return plain(words) if "|" in words else code(words)


def table(headers: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """Lines of a table of cells that are marked up already."""
    names = list(headers)
    yield _row(names)
    yield _row("---" for _ in names)
    yield from map(_row, rows)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
