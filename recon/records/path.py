"""Call paths: how the engine's step reaches a place."""

from dataclasses import dataclass
from enum import Enum


class Tier(Enum):
    """How sure an edge of the call graph is."""

    CERTAIN = "certain"
    LIKELY = "likely"
    GUESS = "guess"


DISPATCHES = {
    "call": "a function is called",
    "method": "a method is called, or an object itself",
    "construct": "a class is called: its `__init__`, or the class where it has none",
    "override": "a subclass's method, reached through the base class's",
    "launch": "a kernel is launched with its grid",
    "operator": "torch.ops, or a module compiled from sources of the tree, calls it by a name",
    "decorator": "what a decorator put in the place of a function",
    "protocol": "a statement calls it: a loop `__iter__` and `__next__`, `with` `__enter__` and `__exit__`",
    "builtin": "a builtin calls what it is given: map, filter, sorted",
    "argument": "it is given to a function outside of the tree, which likely calls it",
    "name": "a method is looked up by a name that the caller hands over",
    "model": "one of the models that can be loaded",
    "rpc": "workers are told its name",
    "context": "it finds what the source has made, without a call",
    "behind": "it runs behind what its decorator put in its place",
    "handed": "it is given to a function of the tree, which may call it",
    "kept": "it is put into a table, list or lambda here, and likely runs on its behalf",
    "string": "a dotted string names it",
    "outside": "the tree does not define it",
}
"""Every way in which an edge of the call graph finds its target."""

OUTSIDE = "outside"
"""The dispatch of a call that leaves the tree; only a graph by names tells of them."""
SUMMARIES = frozenset({"behind", "handed", "kept", "string", "name", "context", "model"})
"""Dispatches that sum up what happens over several calls, or somewhere else: no single call site makes the step."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One station of a call path."""

    path: str
    symbol: str
    line: int
    """Line of the definition, counted from 1."""
    dispatch: str
    """How this hop calls the next one, a word of `DISPATCHES`; empty at the end."""
    tier: Tier
    """How sure the step to the next hop is."""


@dataclass(frozen=True, slots=True)
class CallPath:
    """A chain of calls from the engine's step to the code that a verdict rests on."""

    capability: str
    hops: tuple[Hop, ...]
    through: tuple[str, ...] = ()
    """The runner, worker or method that the path leads through, e.g. `runner V1`; empty if none is known."""
