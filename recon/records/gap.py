"""Gaps: what an install lacks for a feature, where it would be built in, and in which order."""

from dataclasses import dataclass

from recon.records.evidence import Evidence
from recon.records.feature import Feature, Purpose, Work
from recon.records.path import Hop
from recon.records.unknown import Unknown
from recon.records.verdict import Gate, Reach, Standing


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether one need of a feature is met here."""

    need: str
    """Id of the need."""
    title: str
    purpose: Purpose
    capability: str
    """The one of the need's capabilities that answers best."""
    standing: Standing
    reach: Reach | None
    place: Evidence | None
    """The best evidence, or else what came nearest; null where nothing did."""
    is_near: bool
    """Whether the place is only what came nearest."""
    why: str
    brief: str
    """The reason where there is little room: of what was only searched in vain, what stands in its place."""
    gates: tuple[Gate, ...]
    """Conditions in the engine under which what is there does not run."""
    lacking: tuple[str, ...]
    """Runners, backends or methods that do not have it, where others do."""


@dataclass(frozen=True, slots=True)
class Hook:
    """A place of the scanned source where a patch would be put."""

    path: str
    symbol: str
    line: int
    scope: tuple[str, ...]
    """Roots that reach it, e.g. `runner V1`; empty if unknown."""
    saw: str
    """What was seen there."""
    task: str
    """What is to be done there."""
    source: str
    """The part of a verdict that it was taken from, e.g. `accept.linear.greedy.evidence`."""
    route: tuple[Hop, ...]
    """From the engine's step to it; empty if no path is known."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a patch."""

    number: int
    """From 1, in the order in which the steps build on one another."""
    need: str
    title: str
    work: Work
    purpose: Purpose
    after: tuple[int, ...]
    """Numbers of the steps that it builds on, without those that these build on themselves."""
    hooks: tuple[Hook, ...]
    """The best place first."""
    gates: tuple[Gate, ...]
    """Validators and conditions that forbid it today."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A need that is missing here and met by another install, or by one member of this one."""

    need: str
    title: str
    install: str
    """Id of the install that has it."""
    member: str
    """The runner, backend or method that has it; empty for the install as a whole."""
    standing: Standing
    place: Evidence | None
    reason: str


@dataclass(frozen=True, slots=True)
class Gap:
    """One feature against one install."""

    feature: str
    install: str
    standing: Standing
    """Whether the install has the feature."""
    counts: dict[Standing, int]
    """How many of the needs have each standing."""
    answers: tuple[Answer, ...]
    """One a need, in the order of the feature."""
    steps: tuple[Step, ...]
    elsewhere: tuple[Elsewhere, ...]
    unsure: tuple[Unknown, ...]


@dataclass(frozen=True, slots=True)
class GapReport:
    """What `recon gap --json` prints."""

    schema_version: int
    recon_version: str
    run: str
    """Name of the saved run that it was made from; empty if it was not saved."""
    started_at: str
    """When that run was started."""
    features: tuple[Feature, ...]
    gaps: tuple[Gap, ...]
    """By feature, then by install."""
