"""The call graph of a source tree: what calls what, and how."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from recon.index.cuda_edges import CudaEdges
from recon.index.edge import Edge, Outside
from recon.index.edges import PythonEdges, nested
from recon.index.names import Names
from recon.index.operators import Operators
from recon.index.string_edges import join_strings
from recon.index.strings import file_of
from recon.index.tables import Ref, paused_gc
from recon.records.path import Hop, Tier

__all__ = ["Edge", "Graph", "Ref"]

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

    def hops(self, path: Sequence[Edge]) -> tuple[Hop, ...]:
        """A path as the stations of a record; () for an empty one."""
        if not path:
            return ()
        hops = [self._hop(edge.source, edge.dispatch, edge.tier) for edge in path]
        return (*hops, self._hop(path[-1].target, "", Tier.CERTAIN))

    def _hop(self, ref: Ref, dispatch: str, tier: Tier) -> Hop:
        return Hop(file_of(ref.path), self.names.qualname(ref), self.names.scope_of(ref).line, dispatch, tier)

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
        join_strings(self.names, add)
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
