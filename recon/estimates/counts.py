"""What a server counted of its chains: how many rounds there were, and how many accepted 1, 2, ... drafts.

Such counts give the tokens per pass of every chain up to the one that was drafted, exactly: a chain of K drafts accepts
as many as a longer one does, and K at most. They tell nothing of what a tree would have added.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from recon.estimates.identities import rate_of_tau, tau_linear
from recon.estimates.replay import FEWEST, FEWEST_ROUNDS, interval
from recon.records.acceptance_length import AcceptanceLength, Basis, Withheld

LONGEST = 64
"""Drafts in a chain."""
SIGMAS = 1.96
"""Half of a 95 % interval in standard errors."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Rounds of chains, all of one model and one drafter."""

    source: str
    """What counted them, in words."""
    length: int
    """Drafts in a chain; 0 where nobody says."""
    rounds: int
    """At least so many; 0 where a person told a mean."""
    reached: tuple[int, ...]
    """Rounds that accepted at least 1, 2, ... drafts, up to `length`; empty where nobody counted them."""
    mean: float
    """Tokens per pass, the target's own counted."""
    requests: tuple[tuple[int, ...], ...] = ()
    """Of each request, the rounds that accepted 0, 1, 2, ... drafts; empty where requests were not told apart."""
    cut: bool = False
    """Whether chains were drafted at different lengths, so that `mean` is of no one length."""
    notes: tuple[str, ...] = ()
    """What one should know before believing them; each a sentence."""

    @property
    def survival(self) -> tuple[float, ...]:
        """S_1, S_2, ...: shares of the rounds that accepted at least so many."""
        return tuple(reached / self.rounds for reached in self.reached)

    def chain(self, length: int, seed: int = 0) -> AcceptanceLength | Withheld:
        """Tokens per pass of a chain of so many drafts, or why they are not known."""
        if 0 < self.rounds < FEWEST_ROUNDS:
            return withhold(
                f"{self.rounds} round{'s' * (self.rounds > 1)} of chains: too few to tell anything from.",
                f"Save what the server counted after more requests: at least {FEWEST_ROUNDS} rounds.",
            )
        if self.reached and not 0 <= length <= self.length:
            return withhold(f"Chains of {self.length} drafts were counted; of {length} nothing is known.")
        if self.cut:
            return withhold("Only a mean is known, of chains of different lengths.")
        if not self.reached and length != self.length:
            return withhold("Only a mean is known, of the chains that were drafted, and not of shorter ones.")
        tau = tau_linear(self.survival, length) if self.reached else self.mean
        low, high = self._interval(length, seed)
        return AcceptanceLength(
            basis=Basis.COUNTED,
            builder="chain",
            nodes=length,
            tau=tau,
            low=low,
            high=high,
            because=f"{self.source[0].upper()}{self.source[1:]}.",
        )

    def _interval(self, length: int, seed: int) -> tuple[float | None, float | None]:
        if not self.rounds:
            return None, None
        reached: Sequence[float] = self.reached[:length]
        if not self.reached:  # as far as a mean tells: all drafts accepted at one rate
            rate = rate_of_tau(min(self.mean, length + 1.0), length + 1)
            reached = [self.rounds * rate**depth for depth in range(1, length + 1)]
        low, high = _of_rounds(reached, self.rounds)
        if len(self.requests) < FEWEST or not self.reached:
            return low, high
        counts = [
            (sum(rounds * (min(drafts, length) + 1) for drafts, rounds in enumerate(each)), sum(each))
            for each in self.requests
        ]
        ends = interval(counts, seed)
        return min(low, ends[0]), max(high, ends[1])


def _of_rounds(reached: Sequence[float], rounds: int) -> tuple[float, float]:
    """The 95 % interval of tokens per pass, rounds taken to be independent: two more that accept none, and two all.

    Rounds of one request are alike, so where requests are not told apart it is the narrowest that could be.
    Source: Agresti and Coull, The American Statistician 52 (1998), for a share; here a mean of shares.
    """
    longest, many = len(reached), rounds + 4
    mean = (sum(reached) + 2 * longest) / many
    squares = (sum((2 * drafts - 1) * each for drafts, each in enumerate(reached, 1)) + 2 * longest**2) / many
    half = SIGMAS * math.sqrt(max(0.0, squares - mean**2) / many)
    known = sum(reached) / rounds
    return 1 + min(known, max(0.0, mean - half)), 1 + max(known, min(longest, mean + half))


def of_histograms(source: str, requests: Sequence[Sequence[int]], length: int, notes: Sequence[str] = ()) -> Counts:
    """Counts of requests, each with the rounds that accepted 0, 1, 2, ... drafts. At least one round is among them.

    >>> of_histograms("by hand", [[1, 0, 3]], 2).mean
    2.5
    """
    totals = [0] * (length + 1)
    for each in requests:
        for drafts, rounds in enumerate(each):
            totals[drafts] += rounds
    reached = tuple(sum(totals[drafts:]) for drafts in range(1, length + 1))
    return Counts(
        source=source,
        length=length,
        rounds=sum(totals),
        reached=reached,
        mean=1 + sum(reached) / sum(totals),
        requests=tuple(tuple(each) for each in requests if sum(each)),
        notes=tuple(notes),
    )


def withhold(reason: str, hint: str = "") -> Withheld:
    """Nothing is known of such chains."""
    return Withheld(Basis.COUNTED, reason, hint)
