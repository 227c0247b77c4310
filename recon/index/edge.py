"""One step of the call graph."""

from collections.abc import Callable
from typing import NamedTuple

from recon.index.tables import Ref
from recon.records.path import Tier


class Edge(NamedTuple):
    """One step of the call graph."""

    source: Ref
    """The function, lambda, module or class body that holds the call."""
    target: Ref
    line: int
    """Line of the call in the source's file, counted from 1."""
    dispatch: str
    """How the call finds its target: a word of `recon.records.path.DISPATCHES`."""
    tier: Tier


Add = Callable[[Edge], None]
Outside = Callable[[Ref, str, int, Tier], None]
"""Told of a call that leaves the tree: its source, the dotted name of what is called, line and tier."""
