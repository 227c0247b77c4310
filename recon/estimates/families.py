"""What a tree added for other drafters of a family: one number, where only the mean length of chains is known.

Let a be the rate at which drafts would be accepted if all were alike, so that tau = (1 - a^L) / (1 - a). Within a
family of drafters, one builder and one budget, k = (1 - a_tree) / (1 - a_chain) is nearly the same for all models and
texts: that a draft is lost becomes rarer by one factor. Between families k differs by as much as a tree can bring, so
nothing is said of a family without published figures, nor of chains shorter or longer than those it was taken from.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from recon.estimates.identities import rate_of_tau, tau_of_rate
from recon.records.acceptance_length import AcceptanceLength, Basis, Withheld

BEST = 0
"""As a budget: the one that suits best, where the source tells the result and not the budget."""
SCATTER = 0.04
"""Standard error of a prediction, relative: what leaving one cell out of Table 1 of DDTree costs, and fresh cells."""

WORST = 2.14
"""Fewest tokens per pass of a chain of DFlash in Table 1 of DDTree: Alpaca, Qwen3-Coder-30B-A3B, blocks of 16."""
BROKEN = 0.5
"""Share of the drafts accepted there below which something is broken, and not just hard."""


@dataclass(frozen=True, slots=True)
class Family:
    """A law and the figures that it was taken from."""

    name: str
    title: str
    builder: str
    block: int
    """Tokens of a block: the longest chain and the token that the target adds."""
    base: int
    """Nodes of the tree that `tau` is of; 0 for a chain."""
    low: float
    high: float
    """Range of tau, of chain or base, that the factors were taken from."""
    factors: Mapping[int, float]
    """k by budget; BEST among them where it is known."""
    source: str

    def factor(self, nodes: int) -> float | None:
        """The k of a budget, between two that are known along the logarithm; None outside."""
        if nodes in self.factors:
            return self.factors[nodes]
        known = sorted(each for each in self.factors if each != BEST)
        around = [(a, b) for a, b in pairwise(known) if a < nodes < b]
        if not around:
            return None
        ((low, high),) = around
        part = math.log(nodes / low) / math.log(high / low)
        return self.factors[low] * (1 - part) + self.factors[high] * part


FAMILIES = (
    Family(
        name="dflash",
        title="DFlash, first version",
        builder="heap",
        block=16,
        base=0,
        low=2.14,
        high=8.02,
        # To 128 the mean of three sources; from there the curve of the one that has larger budgets, joined to it.
        factors={BEST: 0.567, 16: 0.85, 32: 0.75, 64: 0.69, 128: 0.64, 256: 0.607, 512: 0.563, 1024: 0.529},
        source="DDTree, arXiv 2604.12989, Table 1 and Figure 3, and two other implementations of it",
    ),
    Family(
        name="dflash2",
        title="DFlash 2",
        builder="spine+siblings",
        block=8,
        base=0,
        low=3.0,
        high=3.4,
        factors={16: 0.957, 32: 0.968},
        source="one model in vLLM with CUDA graphs (rmagur1203/vllm-ddtree, DDTREE-FINDINGS-EN.md, section 8)",
    ),
    Family(
        name="eagle3",
        title="EAGLE-3",
        builder="eagle",
        block=16,
        base=16,
        low=2.57,
        high=3.3,
        factors={60: 0.839},
        source="DFlash, arXiv 2602.06036, Table 1, trees of 16 and of 60",
    ),
    Family(
        name="eagle3",
        title="EAGLE-3",
        builder="eagle",
        block=16,
        base=10,
        low=3.11,
        high=3.62,
        factors={60: 0.759},
        source="DFlash, arXiv 2602.06036, Table 5, trees of 10 and of 60",
    ),
)
_ALIKE = {"dflashv1": "dflash", "dflash1": "dflash", "dflashv2": "dflash2"}


def predicted(family: str, tau: float, block: int, nodes: int, base: int = 0) -> AcceptanceLength | Withheld:
    """Tokens per pass of a family's tree from those of its chain, or why nothing can be said.

    Args:
        family: Name of the drafter's family, however it is spelled.
        tau: Tokens per pass of the chain, or of the base; the one that the target adds counted.
        block: Tokens of a block: the longest chain, and one.
        nodes: Budget; BEST for the one that suits best.
        base: Nodes of the tree that `tau` is of; 0 for a chain.
    """
    mended = broken(tau, block, Basis.FAMILY_LAW) if 1 <= tau <= block else None
    if mended is not None:
        return mended
    law = law_of(family, base)
    if law is None:
        return _no_law(family, [each for each in FAMILIES if each.name == plain(family)], base)
    if block != law.block:
        return _withhold(f"The law of {law.title} was taken from blocks of {law.block} tokens, not of {block}.")
    if not law.low <= tau <= law.high:  # NaN lies in no range
        return _outside(law, tau)
    factor = law.factor(nodes)
    if factor is None:
        return _withhold(f"Of {law.title} {_known(law)} {'is' if len(law.factors) == 1 else 'are'} known{_not(nodes)}.")
    return _length(law, tau, nodes, factor)


def broken(tau: float, block: int, basis: Basis) -> Withheld | None:
    """The advice to mend a drafter whose chains get so far; None where they get far enough to speak of trees.

    Whatever a tree might add, a drafter that gets less than half as far as the worst published one is to be looked at
    first: of blocks of 16 below 1.57 tokens per pass, of others at the same rate of acceptance.

    Raises:
        ValueError: tau lies outside 1 to `block`.
    """
    if rate_of_tau(tau, block) >= rate_of_tau(1 + (WORST - 1) * BROKEN, 16):
        return None
    return Withheld(
        basis,
        f"{tau:.3g} tokens per pass of blocks of {block}: the drafter is hardly ever accepted, and no tree is advised.",
        "It is to be mended first: its checkpoint, its template, the hidden states that it is given.",
        mend=True,
    )


def _length(law: Family, tau: float, nodes: int, factor: float) -> AcceptanceLength:
    rate = 1 - factor * (1 - rate_of_tau(tau, law.block))
    longer = tau_of_rate(rate, law.block)
    return AcceptanceLength(
        basis=Basis.FAMILY_LAW,
        builder=law.builder,
        nodes=nodes,
        tau=longer,
        low=longer * (1 - 1.96 * SCATTER),
        high=min(longer * (1 + 1.96 * SCATTER), float(law.block)),
        because=f"What a tree added for other drafters of the family {law.title}: {law.source}.",
    )


def law_of(family: str, base: int = 0) -> Family | None:
    """The law of a family for trees of `base` drafts, or of chains; None where there is none."""
    return next((each for each in FAMILIES if each.name == plain(family) and each.base == base), None)


def is_of_blocks(family: str, builder: str) -> bool:
    """Whether drafts come as whole blocks, so that no tree is deeper than the longest chain.

    A drafter of token after token may go deeper in a tree than the chain that was served. Where neither family nor
    builder tells, blocks are meant: the chain that is told of is the longest.
    """
    return plain(family).startswith("dflash") or not (builder.startswith("eagle") or plain(family))


def _no_law(family: str, named: list[Family], base: int) -> Withheld:
    known = ", ".join(dict.fromkeys(each.name for each in FAMILIES))
    if not plain(family):
        return _withhold(f"No family of the drafter is named, and what a tree adds depends on it (known: {known}).")
    if not named:
        return _withhold(
            f"No figures are published from which to tell what a tree adds for {family!r} (known: {known})."
        )
    bases = " or ".join(f"a tree of {each.base}" if each.base else "a chain" for each in named)
    given = f"a tree of {base}" if base else "a chain"
    return _withhold(f"The law of {named[0].title} starts from {bases}, not from {given}.")


def _outside(law: Family, tau: float) -> Withheld:
    what = f"a tree of {law.base}" if law.base else "chains"
    reason = (
        f"The law of {law.title} was taken from {what} of {law.low:g} to {law.high:g} tokens per pass, not {tau:g}."
    )
    return _withhold(reason)


def _known(law: Family) -> str:
    known = [each for each in sorted(law.factors) if each != BEST]
    span = f"budgets from {known[0]} to {known[-1]}" if len(known) > 1 else f"a budget of {known[0]}"
    return span + (" and the best one" if BEST in law.factors else "")


def _not(nodes: int) -> str:
    return f", not {nodes}" if nodes != BEST else ", and not which is best"


def plain(family: str) -> str:
    """The name of a family, however it is spelled.

    >>> plain("DFlash-v1"), plain("EAGLE 3")
    ('dflash', 'eagle3')
    """
    plain = re.sub(r"[^a-z0-9]", "", family.lower())
    return _ALIKE.get(plain, plain)


def _withhold(reason: str) -> Withheld:
    return Withheld(Basis.FAMILY_LAW, reason, "A trace of this drafter on your own text tells: recon replays it.")
