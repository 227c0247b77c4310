"""Findings: what a detector has to say about a tree, before it is judged."""

from dataclasses import dataclass

from recon.records.evidence import Evidence
from recon.records.unknown import Unknown
from recon.records.verdict import Gate, Member, Reach


@dataclass(frozen=True, slots=True)
class Outside:
    """Functions of other distributions that could hold an answer, and who calls them."""

    names: tuple[str, ...] = ()
    """Dotted names, sorted."""
    places: tuple[Evidence, ...] = ()
    """The calls, the best first: on them "cannot tell" rests."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a detector found for one capability."""

    evidence: tuple[Evidence, ...] = ()
    """What speaks for the capability, the best first."""
    nearest: tuple[Evidence, ...] = ()
    """What came near without being it."""
    lacks: str = ""
    """The named part of the definition that is missing in every configuration; makes the standing partial."""
    reason: str = ""
    """Why, in one sentence; empty leaves the wording to the judge."""
    reach: Reach | None = None
    gates: tuple[Gate, ...] = ()
    members: tuple[Member, ...] = ()
    external: Outside = Outside()
    """Functions of other distributions that could hold the answer: it is unknown where nothing else speaks."""
    unread: tuple[Unknown, ...] = ()
    """What else could hold the answer and was not read, as far as only this question goes."""
