"""Which of several assignments to one name can give what is read on a line."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

END = 1 << 40
"""A line behind every scope: what is left at its end is asked for there."""


class Span(NamedTuple):
    """How long an entry of a name holds."""

    since: int
    """Line from which on it holds."""
    around: int
    """Where what stands around it begins: a loop reaches back to its start; 0 where it always runs."""
    is_firm: bool
    """Whether it can be replaced, and replaces where it always runs."""


class Reaching:
    """The entries of one name that reach a line, found once for all lines between two entries."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._spans = spans
        self._since = sorted({span.since for span in spans})
        self._around = sorted({span.around for span in spans if span.around > 0})
        self._firm = sorted({span.since for span in spans if span.is_firm and not span.around})
        self._known: dict[tuple[int, int, bool], int] = {}

    def at(self, line: int) -> int:
        """The entries as bits; 0 where all of them reach the line."""
        key = (bisect_left(self._since, line), bisect_right(self._around, line), line < END)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._at(line)
        return found

    def _at(self, line: int) -> int:
        """A statement that always runs replaces what came before it; what a loop binds reaches back to its start."""
        place = bisect_left(self._firm, line)
        killed = self._firm[place - 1] if place else 0
        found = 0
        for bit, (since, around, is_firm) in enumerate(self._spans):
            if (killed <= since < line) or not is_firm or 0 < around <= line < END:
                found |= 1 << bit
        return 0 if found == (1 << len(self._spans)) - 1 else found
