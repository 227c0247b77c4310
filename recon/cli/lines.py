"""Rows as plain lines: for answers that are to come at once, without the library that draws tables."""

import re
import textwrap
from collections.abc import Iterable, Sequence

from recon.report.text import shortened, visible

_GAP = "  "
_LEAST_PLACE = 20
"""Columns below which a place is not shortened."""
_ITEM = re.compile(r"[-*] |[a-z][a-z, ]*: ")
"""How a point of a page begins: `- this`, `shaped: this`."""
_BELOW = "      "
"""Before what stands below its row."""


def tabbed(rows: Iterable[Sequence[str]]) -> str:
    """Rows for a pipe: columns separated by tabs."""
    return "".join("\t".join(map(visible, row)) + "\n" for row in rows)


def aligned(rows: Iterable[Sequence[str]], width: int = 0, place: int = 1) -> str:
    r"""Rows for a person: columns under one another, the last one as it is.

    Args:
        rows: All of as many columns.
        width: Columns of the screen, 0 for any number: where rows are wider, places get shorter, and if
            that is not enough the last column stands below.
        place: The column that holds `path:line`.

    >>> aligned([("a", "long"), ("bcd", "x")])
    '  a    long\n  bcd  x\n'
    >>> aligned([("walk", "engine/spec/tree/walk.py:12", "yes")], 34)
    '  walk  engine/…/walk.py:12  yes\n'
    """
    shown = [tuple(map(visible, row)) for row in rows]
    if width:
        shown = _with_short_places(shown, width - len(_GAP), place)
    widths = _widths(shown)
    lines = (_GAP.join(map(str.ljust, row, widths)).rstrip() for row in shown)
    if width and _total(widths) > width - len(_GAP):
        lines = (_hung(row, widths, width) for row in shown)
    return "".join(f"{_GAP}{line}\n" for line in lines)


def folded(page: str, width: int, *, alone: bool = False) -> str:
    r"""A page for a person: paragraphs with a line that is too long for the screen are set anew, others stay.

    Args:
        page: Lines; those of a paragraph begin in one column, and a point begins a new one.
        width: Columns of the screen.
        alone: Whether each line is a paragraph; what goes on below one that is set in stands further in.

    >>> folded("Counts\n  shaped: one two three four five six seven\n  eight.\n  declared: nine.\n", 40)
    'Counts\n  shaped: one two three four five six\n  seven eight.\n  declared: nine.\n'
    """
    told: list[list[str]] = []
    for line in page.splitlines():
        above = told[-1][-1] if told else ""
        goes_on = line.strip() and above.strip() and _indent(line) == _indent(above) and not _ITEM.match(line.strip())
        if goes_on and not alone:
            told[-1].append(line)
        else:
            told.append([line])
    return "".join(f"{line}\n" for lines in told for line in _set_anew(lines, width, alone=alone))


def _set_anew(lines: list[str], width: int, *, alone: bool) -> list[str]:
    if max(map(len, lines)) <= width:
        return lines
    indent = _indent(lines[0])
    words = " ".join(line.strip() for line in lines)
    return textwrap.wrap(
        words,
        max(width, 40),
        initial_indent=indent,
        subsequent_indent=indent + _GAP if alone and indent else indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _with_short_places(rows: list[tuple[str, ...]], room: int, place: int) -> list[tuple[str, ...]]:
    """Rows with places so short that all columns fit; if they cannot be, all columns but the last."""
    widths = _widths(rows)
    for columns in (widths, widths[:-1]):
        over = _total(columns) - room
        if over <= 0 or place >= len(columns):
            return rows
        if columns[place] - over >= _LEAST_PLACE:
            return [(*row[:place], shortened(row[place], columns[place] - over), *row[place + 1 :]) for row in rows]
    return rows


def _hung(row: Sequence[str], widths: Sequence[int], width: int) -> str:
    """A row whose last column stands below where it finds no room."""
    line = _GAP.join(map(str.ljust, row, widths)).rstrip()
    if len(_GAP) + len(line) <= width:
        return line
    below = textwrap.fill(row[-1], max(width, 40), initial_indent=_BELOW, subsequent_indent=_BELOW)
    return f"{_GAP.join(map(str.ljust, row[:-1], widths)).rstrip()}\n{below}"
