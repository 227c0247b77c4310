"""Paths through packed edges: the surest and shortest first."""

from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count
from typing import NamedTuple

from recon.kept.parts import Edge
from recon.kept.store import TIERS

COSTS = (1, 1 + (1 << 20), 1 + (1 << 40))
"""By tier: fewest guesses first, then fewest likely edges, then fewest edges at all."""
_MOST_TRIED = 50_000
"""Beginnings of paths looked at before a search for further ones ends."""


class Distance(NamedTuple):
    """How far something is."""

    calls: int
    likely: int
    """Of the calls, those that are likely."""
    guesses: int


@dataclass(frozen=True, slots=True)
class Edges:
    """The edges of a tree, packed as `recon.kept.store.packed` says."""

    sources: "array[int]"
    targets: "array[int]"
    lines: "array[int]"
    hows: "array[int]"
    out: "array[int]"
    into: "array[int]"
    order: "array[int]"
    words: Sequence[str]

    def __len__(self) -> int:
        """How many there are."""
        return len(self.sources)

    def after(self, source: int) -> range:
        """Places of the edges from a definition."""
        return range(self.out[source], self.out[source + 1])

    def before(self, target: int) -> "array[int]":
        """Places of the edges to a definition."""
        return self.order[self.into[target] : self.into[target + 1]]

    def at(self, place: int) -> Edge:
        """One edge."""
        word, tier = divmod(self.hows[place], len(TIERS))
        return Edge(self.sources[place], self.targets[place], self.lines[place], self.words[word], TIERS[tier])

    def paths(self, starts: Collection[int], ends: Collection[int], limit: int) -> list[tuple[Edge, ...]]:
        """Different paths from any of some definitions to any of others, the best first.

        No path goes through a definition twice, nor on from an end or back through a start; two paths differ in a
        definition at least. An end that is a start too has an empty path.
        """
        left = self._left(starts, ends)
        found: list[tuple[Edge, ...]] = []
        turn = count()  # of beginnings that promise alike, the older goes on
        heap = [(left[start], next(turn), 0, start, _Trail()) for start in sorted(starts) if start in left]
        heapify(heap)
        tried = 0
        while heap and len(found) < limit and tried < _MOST_TRIED:
            _, _, cost, here, trail = heappop(heap)
            tried += 1
            if here in ends:
                found.append(tuple(self.at(place) for place in trail.places()))
                continue
            for there, place in self._next(here).items():
                if there in left and there not in starts and not self._passed(trail, there):
                    so_far = cost + self._cost(place)
                    heappush(heap, (so_far + left[there], next(turn), so_far, there, _Trail(place, trail)))
        return found

    def tiers(self) -> dict[str, int]:
        """How many edges there are of each tier, by its word."""
        found = Counter(self.hows)
        return {
            tier.value: sum(n for how, n in found.items() if how % len(TIERS) == rank)
            for rank, tier in enumerate(TIERS)
        }

    def reached(self, starts: Collection[int]) -> dict[int, Distance]:
        """All that definitions reach, these included, and how far it is: the surest first, of these the nearest."""
        part = (1 << 20) - 1
        return {
            here: Distance(cost & part, cost >> 20 & part, cost >> 40)
            for here, cost in self._spread(starts, forward=True)
        }

    def reaching(self, ends: Collection[int]) -> int:
        """How many definitions reach one of some definitions, these included."""
        seen, queue = set(ends), list(ends)
        for here in queue:
            for place in self.before(here):
                source = self.sources[place]
                if source not in seen:
                    seen.add(source)
                    queue.append(source)
        return len(seen)

    def _left(self, starts: Collection[int], ends: Collection[int]) -> dict[int, int]:
        """By definition, what is left of the way to the nearest end; only where a start leads."""
        within = self._within(starts)
        return dict(self._spread(ends, forward=False, within=within))

    def _within(self, starts: Iterable[int]) -> set[int]:
        seen = set(starts)
        queue = list(seen)
        out, targets = self.out, self.targets
        for here in queue:
            fresh = set(targets[out[here] : out[here + 1]]) - seen
            seen |= fresh
            queue += fresh
        return seen

    def _spread(
        self, starts: Collection[int], *, forward: bool, within: Collection[int] | None = None
    ) -> Iterator[tuple[int, int]]:
        """Definitions in the order of their cost, each with it."""
        far = self.targets if forward else self.sources
        best = dict.fromkeys(starts, 0)
        heap = [(0, start) for start in sorted(best)]
        done: set[int] = set()
        hows, tiers = self.hows, len(TIERS)
        while heap:
            cost, here = heappop(heap)
            if here in done:
                continue
            done.add(here)
            yield here, cost
            for place in self.after(here) if forward else self.before(here):
                there = far[place]
                reach = cost + COSTS[hows[place] % tiers]
                if reach < best.get(there, reach + 1) and (within is None or there in within):
                    best[there] = reach
                    heappush(heap, (reach, there))

    def _next(self, here: int) -> Mapping[int, int]:
        """The best edge to each definition that is called."""
        found: dict[int, int] = {}
        for place in self.after(here):
            there = self.targets[place]
            if there not in found or self._cost(place) < self._cost(found[there]):
                found[there] = place
        return found

    def _cost(self, place: int) -> int:
        return COSTS[self.hows[place] % len(TIERS)]

    def _passed(self, trail: "_Trail", there: int) -> bool:
        return any(self.targets[place] == there for place in trail.backwards())


class _Trail:
    """The beginning of a path, as its last edge and the beginning before."""

    __slots__ = ("before", "place")

    def __init__(self, place: int = -1, before: "_Trail | None" = None) -> None:
        self.place = place
        self.before = before

    def backwards(self) -> Iterator[int]:
        """Places of the edges, the last first."""
        one = self
        while one.before is not None:
            yield one.place
            one = one.before

    def places(self) -> list[int]:
        """Places of the edges, the first first."""
        return [*self.backwards()][::-1]
