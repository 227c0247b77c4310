"""Verdicts: the judgement on one capability of one install, with what it rests on."""

from dataclasses import dataclass
from enum import Enum

from recon.records.evidence import Evidence
from recon.records.unknown import Unknown


class Standing(Enum):
    """Whether an install has a capability."""

    PRESENT = "present"
    PARTIAL = "partial"
    ABSENT = "absent"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "not_applicable"


class Reach(Enum):
    """How far present code is connected; each implies the ones before it."""

    DEFINED = "defined"
    """In the tree."""
    WIRED = "wired"
    """A call path leads from the engine's step to it."""
    ENABLED = "enabled"
    """Reachable under this server's arguments, GPU and platform."""


@dataclass(frozen=True, slots=True)
class Capability:
    """Something an engine can do in speculative decoding."""

    id: str
    """Dotted name, e.g. `accept.tree.greedy`."""
    title: str
    help: str
    """The page of the detector: what it is, what counts, blind spots, sources."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition in the engine that decides when present code may run."""

    condition: str
    """What must hold for it to close, as written, shortened."""
    path: str
    line: int
    message: str = ""
    """What the engine says there; empty if it says nothing."""


@dataclass(frozen=True, slots=True)
class Member:
    """One of several answers inside a verdict: a runner, a backend, a method."""

    name: str
    standing: Standing
    reach: Reach | None
    reason: str
    evidence: tuple[Evidence, ...]
    gates: tuple[Gate, ...]


@dataclass(frozen=True, slots=True)
class Searched:
    """What was examined before a verdict was given: the proof behind an absence."""

    files: int
    """Source files examined (Python, CUDA and C++)."""
    functions: int
    """Functions and methods seen in them."""
    kernels: int
    """Of those, Triton and CUDA kernels."""
    examined: int
    """Functions whose data flow was read in full for this question."""
    libraries: int
    """Compiled libraries whose symbols and operator schemas were read."""
    shapes: tuple[str, ...]
    """The shapes that were looked for, in words."""
    unread: tuple[Unknown, ...]
    """What could not be examined; where it could hold the answer, nothing is called absent."""


@dataclass(frozen=True, slots=True)
class OwnWord:
    """What a user says of one verdict instead: shown beside it wherever it is shown, and what policies go by."""

    standing: Standing
    reason: str
    origin: str
    """The file in which it is said."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement on one capability of one install."""

    capability: str
    standing: Standing
    reach: Reach | None
    """Null where it was not asked."""
    reason: str
    """Why this standing, in one sentence."""
    evidence: tuple[Evidence, ...]
    """At most five places, the best first."""
    nearest: tuple[Evidence, ...]
    """Further places, and what came near without being it."""
    searched: Searched
    gates: tuple[Gate, ...]
    members: tuple[Member, ...]
    own_word: OwnWord | None = None
    """The user's; standing, reach and all else stay what was seen."""

    @property
    def demanded(self) -> Standing:
        """The standing that policies go by: the user's own word where there is one."""
        return self.own_word.standing if self.own_word else self.standing
