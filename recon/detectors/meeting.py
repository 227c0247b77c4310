"""Where two kinds of code are brought together: the nearest function from which calls lead to both."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recon.detectors.api import Evidence, Index
from recon.detectors.shapes.catalog import GREEDY_WALK, STOCHASTIC_WALK
from recon.index.graph import Edge
from recon.index.tables import Ref


@dataclass(frozen=True, slots=True)
class Meeting:
    """A function that leads to both, and the way from it to the first."""

    target: Ref
    way: tuple[Edge, ...]
    """Edges from the function to the target; empty if it is the target itself."""


def meetings(
    index: Index, targets: Iterable[Ref], others: Iterable[Ref], steps: int, other_steps: int
) -> list[Meeting]:
    """For each target the nearest function that leads to it and to one of the others, the nearest meetings first.

    Args:
        index: The tree.
        targets: Where the ways end.
        others: What the function must lead to as well.
        steps: Calls at most from the function to a target.
        other_steps: Calls at most from the function to one of the others.
    """
    near = _climb(index, others, other_steps)
    found: list[Meeting] = []
    for target in targets:
        onward = _climb(index, [target], steps)
        ways = [_way(onward, ref) for ref in onward if ref in near]
        if ways:
            found.append(Meeting(target, min(ways, key=len)))
    return sorted(found, key=lambda meeting: len(meeting.way))


def _climb(index: Index, starts: Iterable[Ref], steps: int) -> dict[Ref, Edge | None]:
    """What leads to some definitions, each with the edge that goes on; the definitions themselves with None."""
    found: dict[Ref, Edge | None] = dict.fromkeys(starts)
    level = list(found)
    for _ in range(steps):
        onward: list[Ref] = []
        for ref in level:
            for edge in index.callers(ref):
                if edge.source not in found:
                    found[edge.source] = edge
                    onward.append(edge.source)
        level = onward
    return found


def _way(onward: Mapping[Ref, Edge | None], ref: Ref) -> tuple[Edge, ...]:
    way: list[Edge] = []
    while (edge := onward[ref]) is not None:
        way.append(edge)
        ref = edge.target
    return tuple(way)


def acceptance(index: Index, calls: Iterable[Evidence]) -> list[Ref]:
    """Functions that accept along a tree, and those that hold the given calls of operators which do or could."""
    callers = {(place.path, place.symbol) for place in calls}
    own = [function.ref for function, _ in index.seen(GREEDY_WALK.id, STOCHASTIC_WALK.id)]
    around = index.functions({path for path, _ in callers})
    return own + [function.ref for function in around if (function.path, function.symbol) in callers]
