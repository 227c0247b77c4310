"""Estimates: what the evidence and the measurements together say about paying for a tree."""

from dataclasses import dataclass
from enum import Enum

from recon.records.cost import Memory, Quantity, Round
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
class Growth:
    """Time at a number of tokens over the time at the fewest, both measured in one run on one GPU."""

    tokens: int
    ratio: float
    low: float
    high: float
    """Ends of the interval, as those of a ratio."""


@dataclass(frozen=True, slots=True)
class Knee:
    """Where the time of a kernel begins to grow with the number of tokens."""

    probe: str
    kernel: str
    case: dict[str, int | float | str]
    """Named axes without the number of tokens."""
    device: str
    """Name of the GPU."""
    fewest: int
    """Tokens whose time the others are compared with."""
    us: float
    """That time: its median."""
    threshold: float
    """Ratio that counts as grown."""
    within: int
    """Most tokens, before `passed`, whose ratio lies within the threshold with its whole interval."""
    passed: int
    """Fewest tokens whose ratio lies above the threshold with its whole interval; 0 where none does."""
    growth: tuple[Growth, ...]
    """By ascending number of tokens."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a tree would bring at one batch, with one set of kernels, over the best chain.

    Where a number is missing, `why` says what it lacks.
    """

    kernels: str
    """Whose times: `bundled`, `engine`, `given` by the user, or `floor` for the least that the hardware could take."""
    batch: int
    context: int
    decision: Decision
    ratio: Quantity | None
    """Tokens in a unit of time of the tree over those of the chain."""
    builder: str
    nodes: int
    """Drafts of the best tree; 0 where none was weighed."""
    chain: int
    """Drafts of the best chain; 0 where none was weighed."""
    tree_tau: Quantity | None
    chain_tau: Quantity | None
    """Tokens per pass, the target's own counted."""
    tree_round: Round | None
    chain_round: Round | None
    common_us: Quantity | None
    """What is added to both rounds: the draft, the host, and what is not measured."""
    extra_us: Quantity | None
    """What is added to the tree's round alone: building on the host, and waiting for it."""
    break_even_tau: Quantity | None
    """Tokens per pass of the tree at which it would be as fast as the chain."""
    spare_us: Quantity | None
    """What the tree's round could take more and be as fast as the chain; negative where it would have to take less."""
    holds: str
    """For which unknown times the decision holds; empty where none is unknown."""
    why: str
    """What a number lacks; empty where there is one."""


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
    knees: tuple[Knee, ...] = ()
    """Where more tokens cease to be nearly free."""
    outlooks: tuple[Outlook, ...] = ()
    """By batch and kernels, where acceptance and times were weighed against each other."""
    sizes: tuple[Outlook, ...] = ()
    """The same for trees of one size each, by size, batch and kernels; without rounds, which `outlooks` tell of."""
    memory: Memory | None = None
    turns: tuple[int, ...] = ()
    """The two batches that were asked about between which tree and chain change places; empty where they do not."""
