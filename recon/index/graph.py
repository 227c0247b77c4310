"""The call graph of a source tree, and the shortest paths that lead to a place in it."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush

from recon.index.cuda_edges import CudaEdges
from recon.index.edge import Edge, Outside
from recon.index.edges import PythonEdges, nested
from recon.index.names import Names
from recon.index.operators import Operators
from recon.index.tables import Ref, paused_gc
from recon.records.path import Hop, Tier

__all__ = ["Edge", "Graph", "Ref"]

_COST = {Tier.CERTAIN: 1, Tier.LIKELY: 1 + (1 << 20), Tier.GUESS: 1 + (1 << 40)}
"""Fewest guesses first, then fewest likely steps, then fewest steps at all."""
_RANK = {Tier.CERTAIN: 0, Tier.LIKELY: 1, Tier.GUESS: 2}


class Graph:
    """Edges between the definitions of a tree, made in one pass when first asked for."""

    def __init__(self, names: Names) -> None:
        self.names = names

    def edges_from(self, ref: Ref) -> Sequence[Edge]:
        """What a definition calls."""
        return self._edges[0].get(ref, ())

    def edges_to(self, ref: Ref) -> Sequence[Edge]:
        """What calls a definition."""
        return self._edges[1].get(ref, ())

    def edges(self) -> Sequence[Edge]:
        """All edges."""
        return [edge for edges in self._edges[0].values() for edge in edges]

    def paths_to(self, target: Ref, is_root: Callable[[Ref], bool], limit: int = 1) -> list[tuple[Edge, ...]]:
        """The best path to a place from each of the nearest roots.

        Args:
            target: Where the paths end.
            is_root: Whether a path may begin at a definition.
            limit: How many roots at most.

        Returns:
            Paths from different roots, the best first: fewest guesses, then fewest likely steps, then fewest steps.
            A target that is a root itself has an empty path.
        """
        best: dict[Ref, int] = {target: 0}
        onward: dict[Ref, Edge] = {}
        heap = [(0, target)]
        found: list[tuple[Edge, ...]] = []
        while heap and len(found) < limit:
            cost, ref = heappop(heap)
            if cost > best[ref]:
                continue
            if is_root(ref):
                found.append(_unwind(onward, ref, target))
                continue  # a path through a root begins there
            for edge in self.edges_to(ref):
                next_cost = cost + _COST[edge.tier]
                if next_cost < best.get(edge.source, next_cost + 1):
                    best[edge.source] = next_cost
                    onward[edge.source] = edge
                    heappush(heap, (next_cost, edge.source))
        return found

    def hops(self, path: Sequence[Edge]) -> tuple[Hop, ...]:
        """A path as the stations of a record; () for an empty one."""
        if not path:
            return ()
        hops = [self._hop(edge.source, edge.dispatch, edge.tier) for edge in path]
        return (*hops, self._hop(path[-1].target, "", Tier.CERTAIN))

    def _hop(self, ref: Ref, dispatch: str, tier: Tier) -> Hop:
        return Hop(ref.path, self.names.qualname(ref), self.names.scope_of(ref).line, dispatch, tier)

    @cached_property
    def _edges(self) -> tuple[Mapping[Ref, list[Edge]], Mapping[Ref, list[Edge]]]:
        with paused_gc():
            return self._build(None)

    def outside(self) -> list[tuple[Ref, str, int, Tier]]:
        """The calls that leave the tree: source, dotted name of what is called, line, tier. Makes the graph anew."""
        found: list[tuple[Ref, str, int, Tier]] = []
        with paused_gc():
            self.__dict__["_edges"] = self._build(lambda *row: found.append(row))
        return found

    def _build(self, outside: Outside | None) -> tuple[Mapping[Ref, list[Edge]], Mapping[Ref, list[Edge]]]:
        kept: dict[tuple[Ref, Ref, str], Edge] = {}

        def add(edge: Edge) -> None:
            key = (edge.source, edge.target, edge.dispatch)
            before = kept.get(key)
            if before is None or _RANK[edge.tier] < _RANK[before.tier]:
                kept[key] = edge

        operators = Operators(self.names)
        PythonEdges(self.names, operators, add, outside).build()
        CudaEdges(self.names, add).build()
        sources: dict[Ref, list[Edge]] = {}
        targets: dict[Ref, list[Edge]] = {}
        for edge in kept.values():
            sources.setdefault(edge.source, []).append(edge)
            targets.setdefault(edge.target, []).append(edge)
        for edge in nested(self.names):
            if edge.target not in targets:
                sources.setdefault(edge.source, []).append(edge)
                targets[edge.target] = [edge]
        return sources, targets


def _unwind(onward: Mapping[Ref, Edge], root: Ref, target: Ref) -> tuple[Edge, ...]:
    path: list[Edge] = []
    while root != target:
        edge = onward[root]
        path.append(edge)
        root = edge.target
    return tuple(path)
