"""The engine's step: the methods that drive the work, and the ways on which they reach a place.

A server holds objects in rows: an engine or scheduler drives an executor, that drives workers, these drive runners. The
classes are told apart by the word for the role that ends their name in every engine known; which of their methods is
the step is told by what it does: it drives objects of a lower row, and not only while the server starts. Where no class
bears such a word, or those that do lead to nothing that was seen, what drives the tree is told by what it does alone.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import IntEnum
from functools import cached_property
from heapq import heappop, heappush
from pathlib import PurePosixPath
from typing import NamedTuple

from recon.index.drivers import below, drivers, owner_of
from recon.index.graph import Edge, Graph
from recon.index.names import Names
from recon.index.records import ScopeKind
from recon.index.tables import Ref, is_python
from recon.records.path import Tier

_ROLES = re.compile(r"\w*?(?P<role>Engine|Scheduler|Executor|Worker|Runner|ModelAgent)(?:Core|Base|Proc|Impl|V?\d+)*$")
_COSTS = {Tier.CERTAIN: 4, Tier.LIKELY: 10}
_CONSTRUCTS = 24
"""What an object does while it is made happens once, not in every step."""
_UNHANDED = 6
"""A step over a context is no call."""
_LANDMARK = 2
"""By how much nearer a function is in which a shape was seen: of two ways, the one past such code says more."""
_PLATFORMS = frozenset({"cpu", "tpu", "xpu", "hpu", "npu", "mps", "neuron", "openvino", "ascend", "musa", "rocm"})
_OTHER_PLATFORM = 1
"""Of two ways that are equally long and sure, the one over code of another platform than CUDA is shown last."""
_PREPARING = frozenset(
    {"warm", "warmup", "dummy", "profile", "capture", "load", "reinitialize", "sleep", "wake", "shutdown"}
)
_SETTING_UP = frozenset({"init", "initialize", "setup"})
_ASIDE = frozenset({"embedding", "embeddings", "pooling", "encode", "encoder"})
_PREPARES = 60
"""Work on made-up input, before or between the steps: a word in the function's name gives it away."""
_MOST_VISITED = 2000
_FEWEST_DRIVEN = 2
"""A step both hands work on and takes care of what comes back; calls of one method of one object do neither."""


class Role(IntEnum):
    """The row in which a holder stands; each drives those below it."""

    RUNNER = 1
    WORKER = 2
    EXECUTOR = 3
    ENGINE = 4


_ROWS = {
    "Engine": Role.ENGINE,
    "Scheduler": Role.ENGINE,
    "Executor": Role.EXECUTOR,
    "Worker": Role.WORKER,
    "Runner": Role.RUNNER,
    "ModelAgent": Role.RUNNER,
}


class Way(NamedTuple):
    """One way from the engine's step to a place."""

    through: Ref | None
    """The class of the last worker or runner on it; None where there is none."""
    edges: tuple[Edge, ...]
    cost: int

    @property
    def root(self) -> Ref | None:
        """Where it begins; None where the place is itself the root."""
        return self.edges[0].source if self.edges else None


class _Reached(NamedTuple):
    """How a definition is reached: how dear, and over which edge."""

    cost: int
    edge: Edge | None


class Steps:
    """The roots of a tree, and what they reach."""

    def __init__(self, names: Names, graph: Graph, landmarks: Collection[Ref] = frozenset()) -> None:
        """Read nothing yet.

        Args:
            names: The definitions of the tree.
            graph: Who calls whom.
            landmarks: Functions past which a way is preferred.
        """
        self._names = names
        self._graph = graph
        self._landmarks = landmarks
        self._elsewhere: dict[str, bool] = {}
        self._extras: dict[Ref, int] = {}
        self._priced: dict[Ref, list[tuple[int, Edge]]] = {}
        self._ways: dict[Ref, tuple[Way, ...]] = {}

    # Holders ----------------------------------------------------------------------------------------------------------

    @cached_property
    def holders(self) -> Mapping[Ref, Role]:
        """The classes that hold and drive the work."""
        found: dict[Ref, Role] = {}
        for table in self._names.tables.values():
            if is_python(table.path):
                for row in table.scopes:
                    if row.kind is ScopeKind.CLASS and (match := _ROLES.match(row.name)) is not None:
                        found[Ref(table.path, row.id)] = _ROWS[match["role"]]
        return found

    @cached_property
    def driven_holders(self) -> frozenset[Ref]:
        """Workers and runners that a holder of a higher row drives; others only bear such a name."""
        found: set[Ref] = set()
        for holder, role in self.holders.items():
            callers = (
                self.holder_of(edge.source)
                for row in self._names.tables[holder.path].scopes_in(holder.scope)
                for edge in _sure(self._graph.edges_to(Ref(holder.path, row.id)))
                if row.name != "__init__"
            )
            if (
                role <= Role.WORKER
                and not self._replays(holder)
                and any(caller is not None and self.holders[caller] > role for caller in callers)
            ):
                found.add(holder)
        return frozenset(found)

    def _replays(self, holder: Ref) -> bool:
        """Whether a class, or one beside it, is named for a recorded graph: it repeats what another runner does."""
        classes = self._names.classes
        family = {one for base in classes.order(holder) for one in (base, *classes.subclasses(base))}
        return any("Graph" in self._names.scope_of(one).name for one in family)

    def holder_of(self, ref: Ref) -> Ref | None:
        """The holder around a definition."""
        scopes = self._names.tables[ref.path].scopes
        scope = ref.scope
        while scope > 0:
            if Ref(ref.path, scope) in self.holders:
                return Ref(ref.path, scope)
            scope = scopes[scope].parent
        return None

    # Roots ------------------------------------------------------------------------------------------------------------

    @cached_property
    def roots(self) -> Mapping[Ref, None]:
        """The engine's step; what drives a tree whose classes do not say their role, or whose step leads nowhere."""
        named = self._named_roots()
        if self._landmarks and not any(ref in self._landmarks for ref in below(self._graph, named)):
            return dict.fromkeys(drivers(self._names, self._graph, self._landmarks)) or named
        return named

    def _named_roots(self) -> dict[Ref, None]:
        """The engine's step; where no method drives a lower row, the methods of holders that no other holder calls."""
        driving = {ref: self._driven(ref) for ref in self._methods(Role.ENGINE)}
        steps = {ref for ref, driven in driving.items() if driven >= _FEWEST_DRIVEN and not self._begins(ref)}
        inner = {edge.target for ref in steps for edge in _sure(self._graph.edges_from(ref))}  # part of a step
        chosen = (steps - inner) or steps or {ref for ref in driving if driving[ref]}
        return dict.fromkeys(filter(chosen.__contains__, driving) if chosen else self._entries())

    def driver_of(self, ref: Ref) -> Ref | None:
        """What a root belongs to: its holder, or else its class, or itself; None for everything else."""
        return (self.holder_of(ref) or owner_of(self._names, ref) or ref) if ref in self.roots else None

    def _methods(self, least: Role) -> Iterator[Ref]:
        """Methods of holders from a row upwards that do not only run while the server starts."""
        for holder, role in self.holders.items():
            if role >= least:
                for row in self._names.tables[holder.path].scopes_in(holder.scope):
                    ref = Ref(holder.path, row.id)
                    if not self._is_start_up(ref):
                        yield ref

    def _driven(self, ref: Ref) -> int:
        """How many methods of other holders a method calls, if one stands in a lower row; else 0."""
        own = self.holder_of(ref)
        called: dict[tuple[Role, str], None] = {}
        for edge in _sure(self._graph.edges_from(ref)):
            holder = self.holder_of(edge.target)
            if holder is not None and holder != own and edge.dispatch != "construct":
                called[self.holders[holder], self._names.scope_of(edge.target).name] = None
        below = [role for role, _ in called if role < Role.ENGINE]
        return len(called) if below else 0

    def _prepares(self, ref: Ref) -> bool:
        return not _PREPARING.isdisjoint(self._names.scope_of(ref).name.split("_"))

    def _begins(self, ref: Ref) -> bool:
        """Whether a name says that a method sets up or prepares; a step itself may set its own work up."""
        return self._prepares(ref) or not _SETTING_UP.isdisjoint(self._names.scope_of(ref).name.split("_"))

    def _entries(self) -> Iterator[Ref]:
        for ref in self._methods(Role.RUNNER):
            holder = self.holder_of(ref)
            if all(self.holder_of(edge.source) in {None, holder} for edge in _sure(self._graph.edges_to(ref))):
                yield ref

    def _is_start_up(self, ref: Ref) -> bool:
        """Whether a method is a constructor, or nothing but constructors leads to it."""
        seen = {ref}
        todo = [ref]
        while todo:
            one = todo.pop()
            if self._names.scope_of(one).name in {"__init__", "__new__", "__post_init__"}:
                continue
            callers = [edge.source for edge in _sure(self._graph.edges_to(one)) if edge.source not in seen]
            if not callers or self._names.scope_of(one).kind is not ScopeKind.FUNCTION:
                return False
            seen.update(callers)
            todo += callers
        return True

    # Ways -------------------------------------------------------------------------------------------------------------

    def ways(self, ref: Ref) -> tuple[Way, ...]:
        """The best way to a place through each worker or runner that leads to it, the best first; no guesses."""
        if ref not in self._ways:
            self._ways[ref] = tuple(sorted(self._find(ref), key=lambda way: way.cost))
        return self._ways[ref]

    def between(self, start: Ref, end: Ref, most: int) -> tuple[Edge, ...]:
        """The shortest chain of sure edges from one definition to another, () if it takes more than `most`."""
        onward: dict[Ref, Edge] = {}
        row = [end]
        for _ in range(most):
            below, row = row, []
            for ref in below:
                for edge in _sure(self._graph.edges_to(ref)):
                    if edge.source not in onward and edge.source != end and len(onward) < _MOST_VISITED:
                        onward[edge.source] = edge
                        row.append(edge.source)
            if start in onward:
                break
        found: list[Edge] = []
        while start in onward and start != end:
            found.append(onward[start])
            start = onward[start].target
        return tuple(found)

    def cost(self, edges: Iterable[Edge]) -> int:
        """How long and how unsure a chain of edges is."""
        return sum(map(self._cost, edges))

    def _find(self, target: Ref) -> Iterator[Way]:
        """Look upwards as far as the nearest workers and runners; from there on the best way is known."""
        best: dict[Ref, _Reached] = {target: _Reached(0, None)}
        heap = [(0, target)]
        done: set[Ref] = set()
        ends: dict[Ref | None, tuple[int, Ref]] = {}
        while heap and len(done) < _MOST_VISITED:
            cost, ref = heappop(heap)
            if ref in done:
                continue
            done.add(ref)
            holder = self.holder_of(ref)
            is_root = ref in self.roots
            passed = holder is not None and (
                holder in self.driven_holders or (is_root and self.holders[holder] < Role.ENGINE)
            )
            if ref in self._reached and (passed or is_root):
                total = cost + self._reached[ref].cost
                through = holder if passed else None
                if through not in ends or total < ends[through][0]:
                    ends[through] = (total, ref)
                continue
            for price, edge in self._priced_to(ref):
                further = cost + price
                known = best.get(edge.source)
                if known is None or further < known.cost:
                    best[edge.source] = _Reached(further, edge)
                    heappush(heap, (further, edge.source))
        for through, (total, ref) in ends.items():
            yield Way(through, (*self._down_to(ref), *_onward(best, ref)), total)

    def _priced_to(self, ref: Ref) -> list[tuple[int, Edge]]:
        """The sure edges to a definition with their costs: searches for different places meet on the way up."""
        if ref not in self._priced:
            self._priced[ref] = [(self._cost(edge), edge) for edge in _sure(self._graph.edges_to(ref))]
        return self._priced[ref]

    def _is_elsewhere(self, ref: Ref) -> bool:
        """Whether a function serves another platform than CUDA, or no generation of text."""
        if ref.path not in self._elsewhere:
            self._elsewhere[ref.path] = serves_other_platform(ref.path)
        return self._elsewhere[ref.path] or not _ASIDE.isdisjoint(self._names.scope_of(ref).name.split("_"))

    def _cost(self, edge: Edge) -> int:
        extra = _CONSTRUCTS if edge.dispatch == "construct" else _UNHANDED if edge.dispatch == "context" else 0
        if edge.target not in self._extras:
            aside = _OTHER_PLATFORM if self._is_elsewhere(edge.target) else 0
            self._extras[edge.target] = aside + (_PREPARES if self._prepares(edge.target) else 0)
        cost = _COSTS[edge.tier] + extra + self._extras[edge.target]
        return cost // _LANDMARK if edge.target in self._landmarks else cost

    def _down_to(self, ref: Ref) -> tuple[Edge, ...]:
        """The best way from a root to what it reaches."""
        edges: list[Edge] = []
        while (edge := self._reached[ref].edge) is not None:
            edges.append(edge)
            ref = edge.source
        return tuple(reversed(edges))

    @cached_property
    def _reached(self) -> Mapping[Ref, _Reached]:
        """All that a root reaches without a guess."""
        found = {root: _Reached(0, None) for root in self.roots}
        heap = [(0, root) for root in self.roots]
        done: set[Ref] = set()
        while heap:
            cost, ref = heappop(heap)
            if ref in done:
                continue
            done.add(ref)
            for edge in _sure(self._graph.edges_from(ref)):
                further = cost + self._cost(edge)
                if edge.target not in found or further < found[edge.target].cost:
                    found[edge.target] = _Reached(further, edge)
                    heappush(heap, (further, edge.target))
        return found


def serves_other_platform(path: str) -> bool:
    """Whether the names of a file and its folders say that it serves another platform than CUDA.

    >>> serves_other_platform("e/hardware/npu/pool.py"), serves_other_platform("e/memory_pool.py")
    (True, False)
    """
    return any(set(part.split("_")) & _PLATFORMS for part in PurePosixPath(path).with_suffix("").parts)


def _sure(edges: Iterable[Edge]) -> Iterator[Edge]:
    """Edges that are no guesses."""
    return (edge for edge in edges if edge.tier is not Tier.GUESS)


def _onward(best: Mapping[Ref, _Reached], ref: Ref) -> Iterator[Edge]:
    while (edge := best[ref].edge) is not None:
        yield edge
        ref = edge.target
