"""The call graph of a folder, by names: for whom compares it or looks something up in it."""

from collections.abc import Collection
from dataclasses import dataclass

from recon.records.path import OUTSIDE, SUMMARIES, Tier
from recon.records.unknown import Unknown


@dataclass(frozen=True, slots=True)
class CallEdge:
    """One step, by the names of both ends."""

    source: str
    target: str
    line: int
    """Line of the call in the source's file, counted from 1."""
    dispatch: str
    """A word of `recon.records.path.DISPATCHES`."""
    tier: Tier


@dataclass(frozen=True, slots=True)
class CallGraph:
    """Who calls whom in a folder.

    A module's body goes by the module's dotted name, a method by `module.Class.name`, a lambda by its number in the
    scope around it (`module.f.<lambda1>`), a builtin as `<builtin>.len`, a method of a builtin type as
    `<**PyStr**>.join`, anything else outside of the folder by its dotted import name.
    """

    nodes: tuple[str, ...]
    """Every function, method, lambda and module body; classes are none."""
    edges: tuple[CallEdge, ...]
    """Sorted by source, line and target."""
    unread: tuple[Unknown, ...]
    """What of the folder could not be read."""
    unfollowed: tuple[Unknown, ...] = ()
    """Where a chain of names was longer than is followed: calls may be missing there."""

    def told(self, tiers: Collection[Tier]) -> tuple[CallEdge, ...]:
        """The edges of some tiers."""
        return tuple(edge for edge in self.edges if edge.tier in tiers)

    def callees(self, tiers: Collection[Tier]) -> dict[str, list[str]]:
        """Every node with the sorted names of what it calls: single call sites only, no sums over several.

        Making an object calls its `__init__`; where it has none, nothing is called.
        """
        found: dict[str, set[str]] = {node: set() for node in self.nodes}
        nodes = frozenset(self.nodes)
        for edge in self.told(tiers):
            if edge.dispatch == OUTSIDE or (edge.dispatch not in SUMMARIES and edge.target in nodes):
                found.setdefault(edge.source, set()).add(edge.target)
                found.setdefault(edge.target, set())
        return {name: sorted(found[name]) for name in sorted(found)}
