"""Configurations of both launches, by the case and the card."""

from dataclasses import dataclass
from functools import cache

import triton

from ..card import HOPPER, Card
from ..wire import Axes
from .spec import MOST_PROGRAMS

GLUON_SINCE = (3, 6)
"""The first Triton that what is written for Hopper was built with."""
LEAST_PROGRAMS = 5
"""Where a card has fewer multiprocessors, contexts are cut into pieces all the same."""
FEW_ROWS = 64
"""Query rows of a key head up to which tiles are half as high."""
SOME_ROWS, MANY_ROWS = 512, 4096
"""Query rows of all requests and key heads from which programs of the second launch take more of them."""
SERVERS_SHARED_BYTES = 200_000
"""Shared memory of a block that the larger configurations need."""


@dataclass(frozen=True, slots=True)
class First:
    """How contexts are attended to."""

    form: str
    """`triton`, or `hopper` for what is written in Gluon."""
    rows: int
    """Of a tile of queries."""
    block: int
    """Tokens of the context at once."""
    stages: int
    warps: int
    """Of those that multiply."""


@dataclass(frozen=True, slots=True)
class Second:
    """How drafts are attended to, and parts merged."""

    some: int
    """Rows of a program."""
    wide: int
    """Columns of a program."""
    chunk: int
    """Tokens of the draft at once."""
    parts: int
    """Parts asked for at once."""
    warps: int


ON_HOPPER = {
    (256, True): (First("hopper", 64, 64, 3, 4),),
    (256, False): (First("hopper", 128, 64, 2, 8),),
    (128, True): (First("hopper", 64, 128, 2, 4), First("hopper", 64, 64, 4, 4)),
    (128, False): (First("hopper", 128, 128, 3, 8),),
    (64, True): (First("hopper", 64, 128, 3, 4),),
    (64, False): (First("hopper", 128, 128, 3, 8),),
}
"""By head size, and whether a key head has few query rows."""
ON_SERVERS = {
    (256, True): (First("triton", 64, 64, 3, 8),),
    (256, False): (First("triton", 64, 64, 3, 8),),
    (128, True): (First("triton", 64, 64, 3, 4),),
    (128, False): (First("triton", 128, 64, 3, 8),),
    (64, True): (First("triton", 64, 64, 3, 4),),
    (64, False): (First("triton", 128, 64, 3, 8),),
}
ELSEWHERE = {
    (256, True): (First("triton", 64, 32, 2, 8),),
    (256, False): (First("triton", 64, 32, 2, 8),),
    (128, True): (First("triton", 64, 64, 2, 4),),
    (128, False): (First("triton", 64, 64, 2, 4),),
    (64, True): (First("triton", 64, 64, 3, 4),),
    (64, False): (First("triton", 64, 64, 3, 4),),
}


def configs(axes: Axes, card: Card) -> tuple[Axes, ...]:
    """Each way of the first launch, with the second.

    Raises:
        ValueError: there is none for heads of this size.
    """
    second = second_of(axes)
    programs = min(max(card.multiprocessors, LEAST_PROGRAMS), MOST_PROGRAMS)
    return tuple(
        {
            "form": first.form,
            "rows": first.rows,
            "block": first.block,
            "stages": first.stages,
            "warps": first.warps,
            "programs": programs,
            "some": second.some,
            "wide": second.wide,
            "chunk": second.chunk,
            "parts": second.parts,
            "draft_warps": second.warps,
        }
        for first in firsts_of(axes, card)
    )


def firsts_of(axes: Axes, card: Card) -> tuple[First, ...]:
    """Ways of the first launch.

    Raises:
        ValueError: there is none for heads of this size.
    """
    key = int(axes["head_dim"]), rows_of(axes) <= FEW_ROWS
    if key not in ELSEWHERE:
        raise ValueError(f"heads of {key[0]} are not provided for: of 64, 128 or 256 alone")
    if card.capability == HOPPER and axes["kv"] == axes["dtype"] and has_gluon():
        return ON_HOPPER[key]
    return (ON_SERVERS if card.shared_bytes >= SERVERS_SHARED_BYTES else ELSEWHERE)[key]


def second_of(axes: Axes) -> Second:
    """The way of the second launch: as many programs as a few rows allow, larger ones where there are many rows."""
    rows = int(axes["batch"]) * int(axes["kv_heads"]) * rows_of(axes)
    chunk, dim = 16 if int(axes["nodes"]) <= 16 else 64, int(axes["head_dim"])
    if rows >= MANY_ROWS:
        return Second(32, min(dim, 128), chunk, 2, 8)
    return Second(16, 64, chunk, 8, 4) if rows >= SOME_ROWS else Second(16, 32, chunk, 16, 4)


def rows_of(axes: Axes) -> int:
    """Query rows of a key head of one request."""
    return int(axes["nodes"]) * int(axes["heads"]) // int(axes["kv_heads"])


@cache
def has_gluon() -> bool:
    """Whether this Triton builds what is written for Hopper."""
    return tuple(int(word) for word in triton.__version__.split(".")[:2] if word.isdecimal()) >= GLUON_SINCE
