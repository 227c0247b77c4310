"""A table of how often each rank was right at each depth: exact for a tree that is the same in every round.

For a tree that is built anew each round it is no basis, and not even as a bound: averages hide that rounds differ.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from recon.estimates.identities import tau_tree
from recon.estimates.trace import Position
from recon.estimates.trees import Builder, Static, called
from recon.records.acceptance_length import AcceptanceLength, Basis, Withheld

Rates = tuple[tuple[float, ...], ...]
"""[L][K]: of the token of each rank, at each depth."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rates [L][K] at which the token of a rank is the real one, given that all before it on its path were."""

    spine: Rates
    """Where all before it were the drafter's best."""
    off: Rates | None
    """Where one was not; None if nobody counted. That is far rarer right: its rows were made for another path."""


def counted(positions: Iterable[Position], length: int, width: int) -> Table:
    """The table of a trace, over all of its positions."""
    spine, off = (_Counts(length, width) for _ in range(2))
    for position in positions:
        left = False
        for depth, rank in enumerate(position.ranks):
            (off if left else spine).add(depth, rank)
            if rank < 0:
                break
            left = left or rank > 0
    return Table(spine.rates(), off.rates())


def rates_by_rank(positions: Iterable[Position], width: int) -> tuple[float, ...]:
    """How often each rank was right, whatever the depth, as long as all before it were among the tokens kept."""
    counts = _Counts(1, width)
    for position in positions:
        for rank in position.ranks:
            counts.add(0, rank)
            if rank < 0:
                break
    return counts.rates()[0]


class _Counts:
    __slots__ = ("_asked", "_right")

    def __init__(self, length: int, width: int) -> None:
        self._asked = [0] * length
        self._right = [[0] * width for _ in range(length)]

    def add(self, depth: int, rank: int) -> None:
        self._asked[depth] += 1
        if rank >= 0:
            self._right[depth][rank] += 1

    def rates(self) -> Rates:
        return tuple(
            tuple(right / max(asked, 1) for right in row) for asked, row in zip(self._asked, self._right, strict=True)
        )


def length(table: Table, builder: Builder) -> AcceptanceLength | Withheld:
    """Tokens per pass of a static tree, or why the table cannot tell."""
    if not isinstance(builder, Static):
        return _withhold(
            f"{builder.name} builds another tree every round, of which a table of averages knows nothing.",
            "A trace tells, or how far chains get together with the drafter's family.",
        )
    if builder.depth > len(table.spine) or builder.width > len(table.spine[0]):
        return _withhold(
            f"The tree is {builder.depth} deep and {builder.width} wide; the table knows {len(table.spine)} depths and"
            f" {len(table.spine[0])} ranks.",
            "Count a larger table, or choose a smaller tree.",
        )
    if table.off is None and any(any(path[:-1]) for path in builder.paths):
        return _withhold(
            "Nodes of the tree lie below siblings, and the table counts what follows the drafter's best tokens alone.",
            "Count what follows other tokens too; it is right several times less often.",
        )
    return AcceptanceLength(
        basis=Basis.STATIC_TABLE,
        builder=called(builder),
        nodes=len(builder.paths),
        tau=tau_tree(passing(table, path) for path in builder.paths),
        low=None,
        high=None,
        because="How often each rank was right at each depth; depths are taken to be independent of one another.",
    )


def passing(table: Table, path: Sequence[int]) -> float:
    """Probability that the target's path takes a node. The table must know its depth and ranks, and `off` if needed."""
    chance, rates = 1.0, table.spine
    for depth, rank in enumerate(path):
        chance *= rates[depth][rank]
        if rank and table.off is not None:
            rates = table.off
    return chance


def best_static(table: Table, nodes: int) -> Static:
    """The static tree with the most tokens per pass: of all paths the likeliest.

    Without `off` nothing is put below siblings. A prefix is never less likely than what prolongs it, so the likeliest
    paths are a tree. It has fewer nodes where the table knows no more.
    """
    paths: list[tuple[int, ...]] = []
    open_ones: list[tuple[float, int, tuple[int, ...]]] = []
    _open(table, (), open_ones)
    while open_ones and len(paths) < nodes:
        _, _, path = heappop(open_ones)
        paths.append(path)
        if len(path) < len(table.spine) and (table.off is not None or not any(path)):
            _open(table, path, open_ones)
    return Static(f"best static({len(paths)})", tuple(paths))


def _open(table: Table, above: tuple[int, ...], open_ones: list[tuple[float, int, tuple[int, ...]]]) -> None:
    for rank in range(len(table.spine[0])):
        path = (*above, rank)
        heappush(open_ones, (-passing(table, path), len(path), path))


def _withhold(reason: str, hint: str) -> Withheld:
    return Withheld(Basis.STATIC_TABLE, reason, hint)
