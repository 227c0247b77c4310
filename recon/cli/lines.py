"""Rows as plain lines: for answers that are to come at once, without the library that draws tables."""

from collections.abc import Iterable, Sequence

from recon.report.text import visible

_GAP = "  "


def tabbed(rows: Iterable[Sequence[str]]) -> str:
    """Rows for a pipe: columns separated by tabs."""
    return "".join("\t".join(map(visible, row)) + "\n" for row in rows)


def aligned(rows: Iterable[Sequence[str]], indent: str = _GAP) -> str:
    r"""Rows for a person: columns under one another, the last one as it is.

    >>> aligned([("a", "long"), ("bcd", "x")])
    '  a    long\n  bcd  x\n'
    """
    shown = [tuple(map(visible, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = (_GAP.join(map(str.ljust, row, widths)).rstrip() for row in shown)
    return "".join(f"{indent}{line}\n" for line in lines)
