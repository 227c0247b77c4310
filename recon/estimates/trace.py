"""Acceptance traces: what a drafter thought at every position of a text that its target wrote. Read line by line.

The first line is a header, each further line one position of one request; no text is in it, so it can be handed on:

    {"v": 1, "model": "..", "drafter": "..", "L": 15, "K": 32, "T": 0.0, "top_p": 1.0, "stride": 1, "engine": ".."}
    {"r": 17, "p": 412, "ctx": 412, "rank": [0, 0, 2, 0, -1], "lp": [[-0.02, -4.1, ...], ...], "tgt_lp": [-0.01, ...]}

A position stands for the next token of the text. `lp[d]` holds the log-probabilities of the K best tokens for the token
d + 1 places on, the best first; `rank[d]` is the place of the real one among them, counted from 0, or -1 where it is
not there. At the end of a request both may be as short as what is left of the text. `tgt_lp`, the target's own words
about the real tokens, is kept for whoever reads traces next: no estimate uses it.

A drafter that drafts token after token makes each row for the best tokens before it. Its header says
`"conditional": true`; such rows tell of chains, and nothing of what lies below other tokens.
"""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Never

from recon.errors import BadTrace
from recon.estimates.trees import Rows

VERSION = 1
LONGEST = 64
"""Drafts in a round."""
WIDEST = 1024
"""Tokens kept of a position."""
LINE = 1 << 22
"""Characters of a line."""
LARGEST = 1 << 53
"""Of a number of a request or a position."""
LEAST = -1e6
"""Of a log-probability: what no softmax gives is a mistake, and sums of it are no numbers."""
OVERFULL = 0.02
"""By how much rounding may lift the sum of the probabilities of one position above 1."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a trace says of itself."""

    model: str
    drafter: str
    length: int
    """Drafts in a round."""
    width: int
    """Tokens kept of a position."""
    temperature: float
    top_p: float
    stride: int
    """Distance of the positions that were written down."""
    engine: str
    conditional: bool = False
    """Whether each row was made for the best tokens before it, and so tells nothing of trees."""


@dataclass(frozen=True, slots=True)
class Position:
    """What the drafter thought at one position."""

    request: int
    place: int
    """Of the token that the drafts follow, in its text."""
    ranks: tuple[int, ...]
    """Of the real tokens that follow; -1 where it is none of those kept."""
    rows: Rows
    """Log-probabilities, as builders take them."""


def read(lines: Iterable[str]) -> tuple[Header, Iterator[Position]]:
    """The header, and the positions as they are asked for; lines may come from a stranger.

    Raises:
        BadTrace: There is no header, or (while positions are taken) a line is not a position; with its number.
    """
    numbered = enumerate(lines, 1)
    number, first = next(numbered, (0, ""))
    if not number:
        raise BadTrace("The trace is empty", "Its first line is a header, each further line a position.")
    header = _header(_Line(number, first))
    return header, (_position(_Line(number, line), header) for number, line in numbered if line.strip())


class _Line:
    """One line as JSON, and its complaints."""

    __slots__ = ("_number", "_values")

    def __init__(self, number: int, text: str) -> None:
        self._number = number
        if len(text) > LINE:
            self.fail(f"is longer than {LINE} characters")
        try:
            values = json.loads(text, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            self.fail("is no JSON of finite numbers")
        if not isinstance(values, dict):
            self.fail("is no JSON object")
        self._values: dict[str, object] = values

    def fail(self, what: str) -> Never:
        raise BadTrace(f"Line {self._number} of the trace {what}")

    def text(self, name: str) -> str:
        value = self._values.get(name, "")
        if not isinstance(value, str) or len(value) > 1000:
            self.fail(f"has no short text as {name}")
        return value

    def whole(self, name: str, low: int, high: int, default: int | None = None) -> int:
        value = self._values.get(name, default)
        if type(value) is not int or not low <= value <= high:
            self.fail(f"has no whole number from {low} to {high} as {name}")
        return value

    def real(self, name: str, high: float, default: float | None = None) -> float:
        value = self._values.get(name, default)
        if type(value) not in {int, float} or not 0 <= value <= high:  # type: ignore[operator]
            self.fail(f"has no number from 0 to {high:g} as {name}")
        return float(value)  # type: ignore[arg-type]

    def flag(self, name: str) -> bool:
        value = self._values.get(name, False)
        if not isinstance(value, bool):
            self.fail(f"has neither true nor false as {name}")
        return value

    def items(self, name: str) -> list[object]:
        value = self._values.get(name, [])
        if not isinstance(value, list):
            self.fail(f"has no list as {name}")
        return value


def _no_constant(name: str) -> Never:
    raise ValueError(name)


def _header(line: _Line) -> Header:
    if line.items("rank") and line.items("lp"):
        line.fail("is a position, and no header")
    line.whole("v", VERSION, VERSION)
    return Header(
        model=line.text("model"),
        drafter=line.text("drafter"),
        length=line.whole("L", 1, LONGEST),
        width=line.whole("K", 1, WIDEST),
        temperature=line.real("T", 100),
        top_p=line.real("top_p", 1, default=1.0),
        stride=line.whole("stride", 1, LARGEST, default=1),
        engine=line.text("engine"),
        conditional=line.flag("conditional"),
    )


def _position(line: _Line, header: Header) -> Position:
    ranks, rows = line.items("rank"), line.items("lp")
    if not 0 < len(ranks) <= header.length or not len(ranks) <= len(rows) <= header.length:
        line.fail(f"has not up to {header.length} ranks, each with its row")
    if set(map(type, ranks)) != {int} or min(ranks) < -1 or max(ranks) >= header.width:  # type: ignore[type-var, operator]
        line.fail(f"has a rank that is no whole number from -1 to {header.width - 1}")
    for row in rows:
        _check_row(row, header.width, line)
    _check_target(line.items("tgt_lp"), header.length, line)
    line.whole("ctx", 0, LARGEST, default=0)
    return Position(
        request=line.whole("r", 0, LARGEST),
        place=line.whole("p", 0, LARGEST),
        ranks=tuple(ranks),  # type: ignore[arg-type]
        rows=rows,  # type: ignore[arg-type]
    )


def _check_row(row: object, width: int, line: _Line) -> None:
    """Whether these are the log-probabilities of the best tokens, the best first. Whole lists at a time: many come."""
    if not isinstance(row, list) or len(row) != width or not set(map(type, row)) <= {int, float}:
        line.fail(f"has a row in lp that is no {width} numbers")
    if row != sorted(row, reverse=True):
        line.fail("has a row in lp whose best tokens do not come first")
    if row[-1] < LEAST or row[0] > 0 or sum(map(math.exp, row)) > 1 + OVERFULL:
        line.fail("has a row in lp that holds no log-probabilities")


def _check_target(values: list[object], length: int, line: _Line) -> None:
    numbers = [value for value in values if isinstance(value, float) or type(value) is int]
    if len(numbers) != len(values) or len(values) > length or any(not LEAST <= value <= 0 for value in numbers):
        line.fail(f"has in tgt_lp not up to {length} log-probabilities")
