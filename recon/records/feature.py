"""Features: what people ask for by name, each as the capabilities that it needs and the order in which they build."""

from dataclasses import dataclass
from enum import Enum


class Work(Enum):
    """The kind of work that a missing need asks for."""

    KERNEL = "kernel"
    """Code that runs on the GPU."""
    PLUMBING = "plumbing"
    """Code of the engine that hands something on: metadata, arguments, bookkeeping."""
    CONFIGURATION = "configuration"
    """Options, registries and the validators that forbid a combination."""


class Purpose(Enum):
    """What a need is needed for."""

    REQUIRED = "required"
    """Without it the feature does not exist."""
    HYBRID = "hybrid"
    """Only models with recurrent layers need it."""
    SPEED = "speed"
    """The feature is right without it, and slow."""


class Part(Enum):
    """A part of a verdict that holds places."""

    EVIDENCE = "evidence"
    NEAREST = "nearest"


@dataclass(frozen=True, slots=True)
class Pointer:
    """Where the places of a patch are taken from: a part of a verdict, and what is to be done there."""

    capability: str
    part: Part
    task: str
    """One sentence for whoever patches."""


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a feature needs of an engine."""

    id: str
    """Unique within its feature, e.g. `walk`."""
    title: str
    """In plain words, e.g. `walk the tree`."""
    capabilities: tuple[str, ...]
    """Any one of them meets it; the best answer counts."""
    purpose: Purpose
    core: bool
    """Whether nothing of the feature is there without it; of what is there partly, other needs may be missing."""
    work: Work
    """Asked for where it is missing."""
    after: tuple[str, ...]
    """Ids of the needs that have to be built before it."""
    hooks: tuple[Pointer, ...]
    """Where it would be built in; the first pointers are the best."""


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that people ask for by name."""

    id: str
    title: str
    what: str
    """What it is, in a sentence or two."""
    paper: str
    """Where it was published."""
    needs: tuple[Need, ...]
    """In the order of the feature's file."""
    origin: str
    """`recon`, the file that it was read from, or the distribution that offers it."""
