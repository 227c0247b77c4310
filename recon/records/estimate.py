"""Estimates: what the evidence and the measurements together say about paying for a tree."""

from dataclasses import dataclass
from enum import Enum


class Decision(Enum):
    """The answer to: would the tree pay?"""

    WIN = "win"
    LOSE = "lose"
    TOO_CLOSE = "too_close"
    CANNOT_TELL = "cannot_tell"
    FIX_THE_DRAFTER_FIRST = "fix_the_drafter_first"


@dataclass(frozen=True, slots=True)
class Estimate:
    """One decision with its reasons."""

    subject: str
    """Install id, or empty when no tree was scanned."""
    decision: Decision
    sentence: str
    because: tuple[str, ...]
    """What the sentence rests on."""
    missing: tuple[str, ...]
    """What would have to be known for a firmer answer."""
