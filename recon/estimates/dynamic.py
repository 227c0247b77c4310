"""Rounds that differ: a drafter sure of itself in one and lost in the next, drawn until its chains get as far.

A table of average ranks knows nothing of this and misses a tree that is built anew every round by a tenth: averages
hide that a small tree goes deep where the drafter is sure and wide where it is not. The model:

- How sure the drafter is at depth d is sigmoid(m_d + spread * (sqrt(shared) z + sqrt(1 - shared) e_d)), z drawn once a
  round, e_d at each depth. From there c_d, the probability of its best token, runs from that of the second best to 1.
  The m_d are solved so that the product c_1 ... c_d is S_d on average.
- What is left goes to the other ranks as 1, 2, 3, ... to the power of minus `fall`.
- Each step below a node that was not its parent's best is right `keep` times as often as the drafter says: its rows
  were made for another path.

Five sets of these numbers reproduce the published curve at the budgets that they were fitted to, and it cannot tell
them apart. Their mean is taken.
"""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from recon.estimates.families import FAMILIES, plain
from recon.estimates.identities import rate_of_tau, tau_linear, tau_of_rate
from recon.estimates.trees import Builder, Heap, Rows, Spine
from recon.records.acceptance_length import AcceptanceLength, Basis, Withheld

SCATTER = 0.025
"""Standard error of a prediction within the family, relative."""
ROUNDS = 300
WIDTH = 64
"""Tokens of a position that a tree may take."""
LARGEST = 1024
_FLAT = 30.0
"""Where a sigmoid is nearly 0 or 1: beyond, the rest would have no logarithm."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """How the rounds of a drafter differ."""

    spread: float
    """Of confidence, in logits."""
    shared: float
    """Share of it that all depths of a round have in common."""
    fall: float
    """How steeply the other ranks fall off."""
    keep: float
    """What one step off the chain of best tokens leaves of the drafter's word."""
    echo: float = 0.0
    """How much of a depth's own part carries over to the next."""

    def tail(self) -> list[float]:
        """How what the best token leaves is spread over the other ranks."""
        weights = [rank**-self.fall for rank in range(1, WIDTH)]
        return [weight / sum(weights) for weight in weights]

    @property
    def floor(self) -> float:
        """Probability of the best token where it is as likely as the second best."""
        second = self.tail()[0]
        return second / (1 + second)


SETS = (
    Scatter(10.0, 0.9, 2.1, 1.00),
    Scatter(10.0, 0.6, 2.6, 0.85, echo=0.5),
    Scatter(7.0, 0.9, 2.6, 0.95, echo=0.5),
    Scatter(7.0, 0.8, 2.6, 0.90),
    Scatter(7.0, 0.6, 2.1, 0.90),
)
"""Fitted at budgets of 16 and 128 to Figure 3 of DDTree, arXiv 2604.12989, with the chains of its Figure 4."""
HELD = (Heap().name, Spine().name)
"""Builders for which figures were published that the model can be held to."""
_FAMILY = next(each for each in FAMILIES if each.name == "dflash")


def predicted(
    family: str,
    survival: Sequence[float],
    budgets: Sequence[int],
    builder: Builder | None = None,
    seed: int = 0,
) -> list[AcceptanceLength] | Withheld:
    """Tokens per pass at each budget, or why nothing can be said.

    Args:
        family: Name of the drafter's family.
        survival: S_1, S_2, ...: the share of rounds in which at least so many drafts of a chain are accepted.
        budgets: Drafts in the tree, each from 1 to LARGEST.
        builder: What makes the tree; best first unless told.
        seed: Of the rounds that are drawn.
    """
    built = builder or Heap()
    why = _why_not(family, survival, budgets)
    if why:
        return Withheld(Basis.DYNAMIC_MODEL, why, "A trace of this drafter on your own text tells.")
    curves = [curve(survival, budgets, each, built, seed) for each in SETS]
    held = built.name in HELD
    beside = f" Nothing was published to hold it to for trees built by {built.name}."
    return [
        AcceptanceLength(
            basis=Basis.DYNAMIC_MODEL,
            builder=built.name,
            nodes=nodes,
            tau=tau,
            low=tau * (1 - 1.96 * SCATTER) if held else None,
            high=min(tau * (1 + 1.96 * SCATTER), len(survival) + 1.0) if held else None,
            because=f"How far this drafter's chains get, and how the rounds of {_FAMILY.title} scatter: the mean of"
            f" {len(SETS)} sets of parameters.{'' if held else beside}",
        )
        for nodes, tau in zip(budgets, (sum(taus) / len(taus) for taus in zip(*curves, strict=True)), strict=True)
    ]


def _why_not(family: str, survival: Sequence[float], budgets: Sequence[int]) -> str:
    if plain(family) != _FAMILY.name:
        return f"How rounds scatter is known of {_FAMILY.title} alone, not of {family!r}."
    if not 0 < len(survival) < _FAMILY.block:
        return f"The model knows chains of 1 to {_FAMILY.block - 1} drafts, not of {len(survival)}."
    falls = [1.0, *survival]
    if not all(0 <= later <= earlier for earlier, later in zip(falls, survival, strict=False)):
        return "The shares of rounds that accept at least 1, 2, ... drafts lie between 0 and 1 and never rise."
    tau = tau_linear(survival, len(survival))
    alike = tau_of_rate(rate_of_tau(tau, len(survival) + 1), _FAMILY.block)  # had the chain been as long as theirs
    if not _FAMILY.low <= alike <= _FAMILY.high:
        return f"The model is used for chains of {_FAMILY.low:g} to {_FAMILY.high:g} tokens per pass, not {alike:.3g}."
    poorest = max(each.floor for each in SETS)
    if any(later < poorest * earlier for earlier, later in zip(falls, survival, strict=False)):
        return (
            f"The model knows drafters whose next draft is right at least {100 * poorest:.0f} % of the time, not this."
        )
    if not budgets or not all(0 < nodes <= LARGEST for nodes in budgets):
        return f"The model is used for budgets from 1 to {LARGEST}."
    return ""


def curve(
    survival: Sequence[float], budgets: Sequence[int], scatter: Scatter, builder: Builder, seed: int = 0
) -> list[float]:
    """Tokens per pass at each budget under one set of parameters."""
    drawn = list(_rounds(survival, scatter, seed))
    totals = [0.0] * len(budgets)
    for rows in drawn:
        sums = _sums(rows, builder, max(budgets), scatter.keep)
        for place, nodes in enumerate(budgets):
            totals[place] += sums[min(nodes, len(sums) - 1)]
    return [1 + total / len(drawn) for total in totals]


def _sums(rows: Rows, builder: Builder, most: int, keep: float) -> list[float]:
    """Drafts accepted on average by the trees of 0, 1, 2, ... nodes of one round."""
    chances = [[math.exp(logprob) for logprob in row] for row in rows]
    passing, depths, off, sums = [1.0], [0], [False], [0.0]
    for node, (parent, rank) in enumerate(builder.order(rows), 1):
        depth = depths[parent]
        chance = passing[parent] * chances[depth][rank] * (keep if off[parent] else 1.0)
        passing.append(chance)
        depths.append(depth + 1)
        off.append(off[parent] or rank > 0)
        sums.append(sums[-1] + chance)
        if node == most:
            break
    return sums


def _rounds(survival: Sequence[float], scatter: Scatter, seed: int) -> Iterator[Rows]:
    """What the drafter says in each of the rounds, drawn."""
    logits = [list(depth) for depth in zip(*_departures(len(survival), scatter, seed), strict=True)]
    confident = list(_confidences(survival, logits, scatter.floor))
    tail = [math.log(share) for share in scatter.tail()]
    for best in zip(*confident, strict=True):
        yield [[math.log(chance), *(math.log1p(-chance) + each for each in tail)] for chance in best]


def _departures(depths: int, scatter: Scatter, seed: int) -> Iterator[list[float]]:
    """By how many logits each depth of each round departs from the mean, in pairs of opposite rounds."""
    draw = partial(random.Random(seed).gauss, 0.0, 1.0)  # noqa: S311 - a model, not secrecy
    for _ in range(ROUNDS // 2):
        common, own, one = draw(), draw(), []
        for _ in range(depths):
            one.append(scatter.spread * (math.sqrt(scatter.shared) * common + math.sqrt(1 - scatter.shared) * own))
            own = scatter.echo * own + math.sqrt(1 - scatter.echo**2) * draw()
        yield one
        yield [-each for each in one]


def _confidences(survival: Iterable[float], logits: Iterable[Sequence[float]], floor: float) -> Iterator[list[float]]:
    """Probability of the best token in each round, depth by depth, so that chains survive as they should."""
    alive: list[float] = [1.0] * ROUNDS
    for share, departures in zip(survival, logits, strict=True):
        low, high = -2 * _FLAT, 2 * _FLAT
        for _ in range(28):  # to a millionth of a logit
            middle = (low + high) / 2
            reached = sum(each * _chance(middle + by, floor) for each, by in zip(alive, departures, strict=True))
            low, high = (middle, high) if reached < share * ROUNDS else (low, middle)
        chances = [_chance(high + by, floor) for by in departures]
        alive = [each * chance for each, chance in zip(alive, chances, strict=True)]
        yield chances


def _chance(logit: float, floor: float) -> float:
    return floor + (1 - floor) / (1 + math.exp(-min(max(logit, -_FLAT), _FLAT)))
