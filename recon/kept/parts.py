"""What is kept of a tree: its definitions, the calls between them, and the other things that have names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recon.records.path import Tier

KINDS = ("function", "class", "kernel", "launch", "op", "registration")
"""What can be found by name; modules are kept too, and found by their path."""
MODULE = "module"


class Definition(NamedTuple):
    """A module, class or function."""

    id: int
    kind: str
    """`module`, `class`, `function`, `lambda` or `kernel`."""
    path: str
    line: int
    """Line of the definition, counted from 1."""
    first_line: int
    """With its decorators."""
    end_line: int
    symbol: str
    """Dotted name inside its file; `<module>` for the module."""
    root: str
    """What step of the engine begins here, e.g. `runner GPUModelRunner`; empty where none does."""


class Edge(NamedTuple):
    """One edge of the call graph, between definitions by their ids."""

    source: int
    target: int
    line: int
    """Line of the call in the source's file."""
    dispatch: str
    tier: Tier


class Mark(NamedTuple):
    """Something else with a name: a launch, an operator, a registration."""

    kind: str
    name: str
    path: str
    line: int
    """0 where only a file is known: a compiled library."""
    symbol: str
    """The definition that holds it; empty in a compiled library."""
    what: str
    """What it is, in a few words."""


@dataclass(frozen=True, slots=True)
class Parts:
    """All that is kept of one tree."""

    version: str
    """Of the modules that made it: equal versions make equal parts of equal trees."""
    definitions: Sequence[Definition]
    """Sorted by id, which is the place in this sequence."""
    edges: Sequence[Edge]
    marks: Sequence[Mark]
