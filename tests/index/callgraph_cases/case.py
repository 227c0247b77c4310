"""How a case is written."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """A program and its call graph."""

    name: str
    """What the case shows, as a phrase."""
    source: str
    """`main.py`; a line `# name.py` begins another file."""
    edges: str
    """A line for each caller: `caller: callee callee`; `.f` is `main.f`."""
    told: str = ""
    """Edges with more of them told, one a line: `source target dispatch tier`; these must be among the edges."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A program that is not understood: what is told of it, what it really does, and why that is not seen."""

    name: str
    source: str
    told: str
    """Edges as they are told now."""
    true: str
    """Edges as they should be."""
    why: str
