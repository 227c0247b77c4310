"""Estimates: what the evidence and the measurements together say about paying for a tree."""

from dataclasses import dataclass
from enum import Enum

from recon.records.verdict import Standing


class Decision(Enum):
    """The answer to: would the tree pay?"""

    WIN = "win"
    LOSE = "lose"
    TOO_CLOSE = "too_close"
    CANNOT_TELL = "cannot_tell"
    FIX_THE_DRAFTER_FIRST = "fix_the_drafter_first"


@dataclass(frozen=True, slots=True)
class Ratio:
    """Time of one kernel over the time of its baseline, both measured in one run on one GPU."""

    probe: str
    case: dict[str, int | float | str]
    """Named axes that both kernels share."""
    baseline: str
    """Kernel of the denominator."""
    subject: str
    """Kernel of the numerator."""
    device: str
    """Name of the GPU."""
    ratio: float
    """Median over median; above 1 the subject is slower."""
    low: float
    """Low end of the subject's interval over the high end of the baseline's."""
    high: float
    """High end of the subject's interval over the low end of the baseline's."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One decision with its reasons."""

    subject: str
    """Install id, or empty when no tree was scanned."""
    decision: Decision
    """Whether a tree would pay; of whether one runs, `runs` tells."""
    sentence: str
    because: tuple[str, ...]
    """What the sentence rests on."""
    missing: tuple[str, ...]
    """What would have to be known for a firmer answer."""
    ratios: tuple[Ratio, ...]
    """Measured ratios that bear on the question; numbers, so that words are made of them in one place."""
    runs: Standing | None = None
    """Whether the install can run a draft tree at all, paying or not; null where no install was judged."""
