"""What is said of the tokens that a target accepts in one pass, or why nothing is said."""

from dataclasses import dataclass
from enum import Enum


class Basis(Enum):
    """What a number of accepted tokens rests on, the firmest first."""

    REPLAY = "replay"
    """A trace of this drafter on this text, round after round: nothing is assumed."""
    COUNTED = "counted"
    """What a server counted, or a person told, of the chains of this drafter; it says nothing of trees."""
    DYNAMIC_MODEL = "dynamic_model"
    """How far this drafter's chains get, and how other drafters of its family scatter."""
    FAMILY_LAW = "family_law"
    """The mean length of this drafter's chains, and what a tree added for other drafters of its family."""
    STATIC_TABLE = "static_table"
    """How often each rank was right at each depth; rounds are taken to be alike."""


@dataclass(frozen=True, slots=True)
class AcceptanceLength:
    """Tokens that one pass of the target commits, the one that it adds itself counted."""

    basis: Basis
    builder: str
    """How the tree is built, with its settings; `chain` for none."""
    nodes: int
    """Budget: drafts in the tree or chain, the root not counted; 0 for the best budget, where no source names it."""
    tau: float
    """Tokens per pass, pooled over rounds."""
    low: float | None
    high: float | None
    """Ends of the 95 % interval; null where the basis gives none."""
    because: str
    """What the number rests on, in one sentence."""


@dataclass(frozen=True, slots=True)
class Gain:
    """Tokens per pass of a tree over those of a chain."""

    nodes: int
    """Drafts in the tree; 0 as in its acceptance length."""
    length: int
    """Drafts in the chain."""
    ratio: float
    low: float | None
    high: float | None
    """Ends of the 95 % interval, of a replay from pairs of requests; null where the basis gives none."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """Why a basis gives no number."""

    basis: Basis
    reason: str
    """One sentence: what stands in the way."""
    hint: str
    """What would help; may be empty."""
    mend: bool = False
    """Whether the drafter is accepted so rarely that it is what to look at first."""
