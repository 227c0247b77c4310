"""All that a detector file imports: what a detector is, the index it asks, and the records it answers with."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from recon.detectors.shapes.flow import View
from recon.index.index import Function, Index
from recon.index.records import Feature
from recon.index.sighting import Sighting
from recon.index.term import Term
from recon.records.evidence import Evidence, Grade
from recon.records.findings import Findings
from recon.records.source import Library
from recon.records.verdict import Gate, Member, Reach, Standing

__all__ = [
    "Case",
    "Detector",
    "Evidence",
    "Feature",
    "Findings",
    "Function",
    "Gate",
    "Grade",
    "Index",
    "Library",
    "Member",
    "Reach",
    "Shape",
    "Sighting",
    "Standing",
    "Term",
    "View",
]


@dataclass(frozen=True, slots=True)
class Shape:
    """A form that code can take, and how to look for it in one function."""

    id: str
    """First part of the ids of its sightings."""
    words: str
    """What is looked for, for the search record."""
    wanted: tuple[Feature, ...]
    """Combinations of features that make a function worth reading in full: any one, whole."""
    find: Callable[[View], Iterator[Sighting]]


@dataclass(frozen=True, slots=True)
class Case:
    """A small tree and the standing that a detector gives it."""

    name: str
    files: Mapping[str, str]
    standing: Standing
    libraries: tuple[Library, ...] = ()
    """Compiled libraries of the tree, of which names were read."""


@dataclass(frozen=True, slots=True)
class Detector:
    """Code that looks for one capability."""

    capability: str
    title: str
    page: str
    """The docstring of the detector's file."""
    shapes: tuple[Shape, ...]
    detect: Callable[[Index], Findings]
    cases: tuple[Case, ...] = field(default=())
