"""The words that people read: one table for each choice of the records, shared by every format."""

from dataclasses import dataclass

from recon.records.estimate import Decision
from recon.records.evidence import Grade
from recon.records.path import Tier
from recon.records.verdict import Reach, Standing


@dataclass(frozen=True, slots=True)
class Word:
    """How a standing is shown: never by colour alone."""

    text: str
    glyph: str
    style: str
    """Name of the colour class: of the page, and of the terminal."""


STANDINGS: dict[Standing, Word] = {
    Standing.PRESENT: Word("yes", "●", "yes"),
    Standing.PARTIAL: Word("partly", "◐", "partly"),
    Standing.ABSENT: Word("no", "○", "no"),
    Standing.UNKNOWN: Word("cannot tell", "?", "unknown"),
    Standing.NOT_APPLICABLE: Word("does not apply", "-", "none"),
}

REACHES: dict[Reach, str] = {
    Reach.DEFINED: "in the tree",
    Reach.WIRED: "connected",
    Reach.ENABLED: "switched on",
}

GRADES: dict[Grade, str] = {
    Grade.NAMED: "by its name only",
    Grade.DECLARED: "by a word that the engine dispatches on",
    Grade.SHAPED: "by its form",
}

DECISIONS: dict[Decision, str] = {
    Decision.WIN: "a tree pays",
    Decision.LOSE: "keep linear",
    Decision.TOO_CLOSE: "too close to call",
    Decision.CANNOT_TELL: "cannot tell",
    Decision.FIX_THE_DRAFTER_FIRST: "fix the drafter first",
}

TIERS: dict[Tier, str] = {
    Tier.CERTAIN: "certain",
    Tier.LIKELY: "likely",
    Tier.GUESS: "a guess",
}

CALLS: dict[str, str] = {
    "call": "calls",
    "method": "calls the method",
    "construct": "makes an object of",
    "override": "calls the method of a subclass",
    "launch": "launches",
    "operator": "calls through the operator",
    "decorator": "calls through a decorator",
    "protocol": "calls by a statement, as for and with do",
    "builtin": "calls through a builtin",
    "argument": "hands to code outside of the tree",
    "name": "calls by a name that it is given",
    "model": "calls the model that is loaded",
    "rpc": "has the workers call",
    "context": "leaves for it what it finds",
    "behind": "stands before",
    "handed": "hands over",
    "kept": "keeps for later",
    "string": "names in a string",
    "outside": "leaves the tree for",
}
"""How one station of a path leads to the next, by the words of `recon.records.path.DISPATCHES`."""

KERNEL_PACKAGES: dict[str, tuple[str, ...]] = {
    "sgl_kernel": ("sgl-kernel", "sglang-kernel"),
    "flashinfer": ("flashinfer-python",),
}
"""Distributions that bring a kernel package which may be scanned beside an engine, by what is imported."""

GROUPS: dict[str, str] = {
    "accept": "Accepting drafts",
    "tree": "Building trees",
    "attn": "Attention",
    "pos": "Positions",
    "kv": "KV cache",
    "state": "Recurrent state",
    "graph": "CUDA graphs",
    "drafter": "Drafters",
    "metrics": "Metrics",
}
"""Headings by the first word of a capability's id, in the order of the screen."""


def group_of(capability: str) -> str:
    """Heading under which a capability stands; an unknown family is its own heading."""
    family = capability.partition(".")[0]
    return GROUPS.get(family, family)


def rank_of(capability: str) -> tuple[int, str]:
    """Sort key: the order of the headings, then the id."""
    family = capability.partition(".")[0]
    order = list(GROUPS)
    return (order.index(family) if family in order else len(order), capability)
