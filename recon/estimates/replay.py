"""A trace, replayed: how far each budget's tree would have got, round after round.

At temperature 0 the text is the target's own path, so what a tree would have accepted is looked up and not estimated.
Above it the same holds of the text that was drawn: under sample-and-match, which takes the target's draw and descends
where it is a child, a replay is one fair draw of what the engine would have done.
"""

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import mul

from recon.errors import BadTrace
from recon.estimates.trace import Header, Position
from recon.estimates.trees import Builder, Rows, called, too_small
from recon.records.acceptance_length import AcceptanceLength, Basis, Withheld

NEVER = 1 << 62
RESAMPLES = 1000
FEWEST = 10
"""Requests that an interval needs."""
FEWEST_ROUNDS = 30
"""Rounds below which nothing is claimed, however much alike they are."""
NOTHING = 1e-4
"""Probability that rounding may leave over where all tokens of a position were kept."""
UNSEEN = 0.25
"""Share of positions at which a tree may want tokens that the trace did not keep."""


@dataclass(frozen=True, slots=True)
class Reached:
    """What is kept of one position: the smallest budgets at which its tree holds the first 1, 2, ... real tokens."""

    joins: tuple[int, ...]
    spine: int
    """Real tokens in a row that were the drafter's best."""
    cut: int
    """The smallest budget at which the tree might hold tokens that the trace did not keep."""


_NOTHING = Reached((), 0, NEVER)


class Replay:
    """All rounds of a trace under one builder, at any budget up to the one that it was made for."""

    def __init__(self, header: Header, positions: Iterable[Position], builder: Builder, most: int) -> None:
        """Take positions one by one; of each a few numbers are kept.

        Args:
            header: What the trace says of itself.
            positions: In any order; those of one request must follow one another without gaps.
            builder: What makes a tree of the rows of a position.
            most: The largest budget that will be asked for.

        Raises:
            BadTrace: Positions are missing or there twice, or there is none.
        """
        self.header, self.builder, self.most = header, builder, most
        self._requests = _by_request(header, positions, lambda position: reached(position, builder, most, header.width))
        self._positions = sum(map(len, self._requests))
        self._cuts = sorted(each.cut for request in self._requests for each in request)

    def rounds(self, nodes: int) -> list[tuple[int, int]]:
        """Tokens and rounds of each request under trees of so many nodes.

        The last round of a request commits what is left of its text.
        """
        return self._walk(lambda each: bisect_right(each.joins, nodes))

    def linear_rounds(self, length: int) -> list[tuple[int, int]]:
        """Tokens and rounds of each request under chains of so many drafts."""
        return self._walk(lambda each: min(each.spine, length))

    def drafts(self) -> tuple[int, int]:
        """Drafts of the longest chains that were right, and rounds in which one was wrong.

        A round that its text ended is neither: what is left of a short text says little of a drafter.
        """
        right = wrong = 0
        for request in self._requests:
            at = 0
            while at < len(request):
                spine = request[at].spine
                right, wrong = right + spine, wrong + (spine < min(self.header.length, len(request) - at))
                at += spine + 1
        return right, wrong

    def tau(self, nodes: int) -> float:
        """Tokens per round of all requests together."""
        return _pooled(self.rounds(nodes))

    def linear_tau(self, length: int) -> float:
        """The same of chains."""
        return _pooled(self.linear_rounds(length))

    def accepted(self, nodes: int) -> list[list[int]]:
        """Drafts that would be accepted at each position of each request, whether or not a round begins there."""
        return [[bisect_right(each.joins, nodes) for each in request] for request in self._requests]

    def unseen(self, nodes: int) -> float:
        """Share of positions at which the tree might hold tokens that the trace did not keep."""
        return bisect_right(self._cuts, nodes) / self._positions

    def length(self, nodes: int, seed: int = 0) -> AcceptanceLength | Withheld:
        """Tokens per round with their interval, or why the trace cannot tell."""
        withheld = self._withheld(nodes)
        if withheld is not None:
            return withheld
        short = f"At {100 * self.unseen(nodes):.1f} % of the positions the trace kept too few tokens to be exact."
        return self._told(called(self.builder), nodes, self.rounds(nodes), seed, short if self.unseen(nodes) else "")

    def chain(self, length: int, seed: int = 0) -> AcceptanceLength | Withheld:
        """The same of a chain of so many drafts; it asks for no more than the best token of each position."""
        if not 0 <= length <= self.header.length:
            return _withhold(f"The trace has {self.header.length} drafts a round, not {length}.", "")
        return self._told("chain", length, self.linear_rounds(length), seed)

    def _told(
        self, builder: str, nodes: int, counts: list[tuple[int, int]], seed: int, besides: str = ""
    ) -> AcceptanceLength:
        at, passes = self.header.temperature, sum(passed for _, passed in counts)
        many = len(counts) >= FEWEST and passes >= FEWEST_ROUNDS
        low, high = interval(counts, seed) if many else (None, None)
        said = (
            f"{passes} rounds of {len(counts)} requests at temperature {at:g}, replayed from a trace.",
            "" if many else f"Fewer than {FEWEST} requests or {FEWEST_ROUNDS} rounds give no interval.",
            besides,
        )
        return AcceptanceLength(
            basis=Basis.REPLAY,
            builder=builder,
            nodes=nodes,
            tau=_pooled(counts),
            low=low,
            high=high,
            because=" ".join(filter(None, said)),
        )

    def _withheld(self, nodes: int) -> Withheld | None:
        header, builder = self.header, self.builder
        if not 0 <= nodes <= self.most:
            return _withhold(f"The replay was made for up to {self.most} nodes, not {nodes}.", "")
        if header.conditional:
            return _withhold(
                "Each row of the trace was made for the best tokens before it; what lies below others is not in it.",
                "Its chains are known. Of trees, running them tells.",
            )
        if builder.width > header.width or builder.depth > header.length:
            return _withhold(
                f"{builder.name} asks for {builder.width} tokens of a position and {builder.depth} positions; the trace"
                f" kept {header.width} and {header.length}.",
                "Write a trace that keeps more, or choose a smaller tree.",
            )
        if lacks := too_small(builder, nodes):
            return _withhold(lacks, "Ask for a budget that it can fill.")
        if self.unseen(nodes) > UNSEEN:
            return _withhold(
                f"At {100 * self.unseen(nodes):.0f} % of the positions a tree of {nodes} nodes may want more than the"
                f" {header.width} tokens that the trace kept.",
                "Write a trace with a larger K, or choose a smaller budget.",
            )
        return None

    def _walk(self, accepted: Callable[[Reached], int]) -> list[tuple[int, int]]:
        counts = []
        for request in self._requests:
            at = passed = 0
            while at < len(request):
                at += accepted(request[at]) + 1
                passed += 1
            counts.append((len(request), passed))
        return counts


def reached(position: Position, builder: Builder, most: int, width: int) -> Reached:
    """Follow the real tokens down the tree while it is built, and stop as soon as nothing more can be learned."""
    ranks, rows = position.ranks, position.rows
    spine = next((depth for depth, rank in enumerate(ranks) if rank), len(ranks))
    joins, cut = _followed(ranks, rows, builder, most, width - 1)
    return Reached(tuple(joins), spine, cut)


def _followed(ranks: Sequence[int], rows: Rows, builder: Builder, most: int, last: int) -> tuple[list[int], int]:
    joins: list[int] = []
    at, want, cut = 0, ranks[0], NEVER
    nodes = [(0, 0)]
    unbounded, bar = not builder.width, -math.inf
    for node, (parent, rank) in enumerate(builder.order(rows), 1):
        if node > most:
            break
        if parent == at and rank == want:
            joins.append(node)
            if len(joins) == len(ranks):
                break
            at, want = node, ranks[len(joins)]
        if unbounded:
            nodes.append((parent, rank))
            if bar > -math.inf and _worth(nodes, node, rows) < bar:
                cut, unbounded = node, False
            elif rank == last:
                bar = max(bar, _worth(nodes, parent, rows) + _next(rows[_depth(nodes, parent)]))
        elif want < 0:
            break
    return joins, cut


def _depth(nodes: list[tuple[int, int]], node: int) -> int:
    depth = 0
    while node:
        node, depth = nodes[node][0], depth + 1
    return depth


def _worth(nodes: list[tuple[int, int]], node: int, rows: Rows) -> float:
    """Log-probability of a node's path."""
    worth, depth = 0.0, _depth(nodes, node)
    while node:
        depth -= 1
        node, rank = nodes[node]
        worth += rows[depth][rank]
    return worth


def _next(row: Sequence[float]) -> float:
    """The most that the best token of a position may have of those that were not kept: no more than is left over."""
    left = 1 - math.fsum(map(math.exp, row))
    return min(row[-1], math.log(left)) if left > NOTHING else -math.inf


def interval(counts: Sequence[tuple[int, int]], seed: int = 0) -> tuple[float, float]:
    """The 95 % interval of tokens per round by the bootstrap over requests: rounds of one request are alike."""
    tokens, rounds = zip(*counts, strict=True)
    return _middle([_sum(each, tokens) / _sum(each, rounds) for each in _resamples(len(counts), seed)])


def gain_interval(
    tree: Sequence[tuple[int, int]], chain: Sequence[tuple[int, int]], seed: int = 0
) -> tuple[float, float]:
    """The same of the tree's tokens per round over the chain's; both from the same requests in each resample."""
    (tokens, rounds), (others, passes) = (zip(*counts, strict=True) for counts in (tree, chain))
    return _middle(
        [
            _sum(each, tokens) / _sum(each, rounds) / (_sum(each, others) / _sum(each, passes))
            for each in _resamples(len(tree), seed)
        ]
    )


@lru_cache(maxsize=2)
def _resamples(requests: int, seed: int) -> tuple[bytes, ...]:
    """How often each request is drawn, in each resample: the same ones for all budgets."""
    draw = random.Random(seed)  # noqa: S311 - resampling, not secrecy
    found = []
    for _ in range(RESAMPLES):
        times = bytearray(requests)
        for request in draw.choices(range(requests), k=requests):
            times[request] += 1
        found.append(bytes(times))
    return tuple(found)


def _sum(times: bytes, values: Sequence[int]) -> int:
    return sum(map(mul, times, values))


def _middle(values: list[float]) -> tuple[float, float]:
    values.sort()
    outside = round(0.025 * len(values))
    return values[outside], values[-outside - 1]


def _pooled(counts: Iterable[tuple[int, int]]) -> float:
    tokens = rounds = 0
    for written, passed in counts:
        tokens += written
        rounds += passed
    return tokens / rounds


_Places = dict[int, dict[int, tuple[int, Reached]]]
"""By request and position: how many ranks it has, and what is kept of it."""


def in_order(header: Header, positions: Iterable[Position]) -> Iterator[Position]:
    """The positions as they come; what a replay would refuse of them is refused, at the latest in the end.

    Raises:
        BadTrace: As `Replay`.
    """
    _refuse_strides(header)
    places: _Places = {}
    for position in positions:
        _put(places, position, _NOTHING)
        yield position
    _ordered(places, header.length)


def _by_request(
    header: Header, positions: Iterable[Position], kept: Callable[[Position], Reached]
) -> list[list[Reached]]:
    """What is kept of positions, request by request in the order of the text."""
    _refuse_strides(header)
    places: _Places = {}
    for position in positions:
        _put(places, position, kept(position))
    return _ordered(places, header.length)


def _refuse_strides(header: Header) -> None:
    if header.stride != 1:
        raise BadTrace(
            f"The trace holds every position at a distance of {header.stride}, and rounds begin at any",
            "Write one with a stride of 1.",
        )


def _put(places: _Places, position: Position, kept: Reached) -> None:
    there = places.setdefault(position.request, {})
    if position.place in there:
        raise BadTrace(f"Position {position.place} of request {position.request} is in the trace twice")
    there[position.place] = (len(position.ranks), kept)


def _ordered(places: _Places, length: int) -> list[list[Reached]]:
    if not places:
        raise BadTrace("The trace has a header and no positions")
    return [_in_order(request, there, length) for request, there in sorted(places.items())]


def _in_order(request: int, there: dict[int, tuple[int, Reached]], length: int) -> list[Reached]:
    first, last = min(there), max(there)
    if last - first + 1 != len(there):
        missing = next(place for place in range(first, last) if place not in there)
        raise BadTrace(
            f"Position {missing} of request {request} is missing from the trace", "A round might begin at any position."
        )
    for place, (known, _) in there.items():
        if known < min(length, last + 1 - place):
            raise BadTrace(f"Position {place} of request {request} has {known} ranks, and its text goes on")
    return [there[place][1] for place in range(first, last + 1)]


def _withhold(reason: str, hint: str) -> Withheld:
    return Withheld(Basis.REPLAY, reason, hint)
