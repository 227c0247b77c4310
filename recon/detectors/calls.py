"""Call paths: how the engine's step reaches the places that a verdict rests on."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from recon.detectors.api import Index
from recon.index.graph import Edge
from recon.index.steps import Way
from recon.index.tables import Ref
from recon.records.path import CallPath, Hop, Tier
from recon.records.verdict import Verdict

MOST_PATHS = 8
"""Paths kept for one capability."""
_FARTHEST = 4
"""Calls between two places of one verdict that still are shown as one path."""


class _Candidate(NamedTuple):
    """A path, and what it would show that no other has shown yet."""

    way: Way
    shows: frozenset[tuple[Ref | None, Ref]]
    """The places of evidence on it, each with the worker or runner through which it is reached."""


def paths_of(index: Index, verdict: Verdict) -> tuple[CallPath, ...]:
    """The fewest paths that lead through every worker and runner and to every place of evidence, the surest first."""
    evidence = [*verdict.evidence, *(place for member in verdict.members for place in member.evidence[:1])]
    places = list(dict.fromkeys(ref for each in evidence if (ref := index.place(each.path, each.symbol)) is not None))
    waiting = list(_candidates(index, places))
    shown: set[tuple[Ref | None, Ref]] = set()
    found: list[CallPath] = []
    while waiting and len(found) < MOST_PATHS:
        best = max(waiting, key=lambda each: _worth(each, shown, places))
        if not best.shows - shown:
            break
        waiting.remove(best)
        shown |= best.shows
        through = () if best.way.through is None else (index.label(best.way.through),)
        found.append(CallPath(verdict.capability, _hops(index, best.way.edges), through))
    return tuple(found)


def _worth(one: _Candidate, shown: set[tuple[Ref | None, Ref]], places: Sequence[Ref]) -> tuple[int, int, int, int]:
    """How much a path adds: much that is new, of the best places, in one piece, on short and sure ways."""
    new = one.shows - shown
    first = min((places.index(place) for _, place in new), default=len(places))
    return len(new), -first, len(one.shows), -one.way.cost


def _candidates(index: Index, places: Sequence[Ref]) -> Iterator[_Candidate]:
    for place in places:
        for way in index.steps.ways(place):
            if way.edges:
                yield _Candidate(way, _shows(way, places))
                for other in places:
                    yield from _going_on(index, way, other, places)


def _going_on(index: Index, way: Way, other: Ref, places: Sequence[Ref]) -> Iterator[_Candidate]:
    """The same path, led on to another place that its end calls."""
    end = way.edges[-1].target
    if other == end or any(edge.source == other for edge in way.edges):
        return
    more = index.steps.between(end, other, _FARTHEST)
    if more:
        longer = way._replace(edges=(*way.edges, *more), cost=way.cost + index.steps.cost(more))
        yield _Candidate(longer, _shows(longer, places))


def _shows(way: Way, places: Iterable[Ref]) -> frozenset[tuple[Ref | None, Ref]]:
    on_it = {edge.target for edge in way.edges}
    return frozenset((way.through, place) for place in places if place in on_it)


def _hops(index: Index, edges: Sequence[Edge]) -> tuple[Hop, ...]:
    """The stations of a path; a function inside another one counts as the outer one."""
    hops: list[Hop] = []
    for edge in edges:
        source = index.outermost(edge.source)
        if source != index.outermost(edge.target):
            hops.append(_hop(index, source, edge.dispatch, edge.tier))
    return (*hops, _hop(index, index.outermost(edges[-1].target), "", Tier.CERTAIN))


def _hop(index: Index, ref: Ref, dispatch: str, tier: Tier) -> Hop:
    function = index.function(ref)
    return Hop(function.file, function.symbol, function.scope.line, dispatch, tier)
