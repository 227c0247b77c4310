"""Tokens per pass as sums of probabilities: exact whatever the drafter, the tree and their dependences.

tau counts the tokens that one pass of the target commits, the one that it adds itself included. The paths that end at
different nodes of one depth exclude one another, so their probabilities add up.
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from operator import mul


def tau_tree(passing: Iterable[float]) -> float:
    """Tokens per pass of a tree, from the probability of each node (root not counted) that the target's path takes it.

    >>> tau_tree([0.5, 0.25, 0.25])
    2.0
    """
    return 1 + sum(passing)


def tau_linear(survival: Sequence[float], length: int) -> float:
    """Tokens per pass of a chain, from the probabilities S_1, S_2, ... that at least so many drafts are accepted.

    >>> tau_linear([0.5, 0.25], 1)
    1.5
    """
    return tau_tree(survival[:length])


def survival(rates: Iterable[float]) -> list[float]:
    """S_1, S_2, ... from the rates at which a draft is accepted when the one before it was.

    >>> survival([0.5, 0.5])
    [0.5, 0.25]
    """
    return list(accumulate(rates, mul))


def tau_of_rate(rate: float, block: int) -> float:
    """Tokens per pass if every draft of a block were accepted at one rate: (1 - a^L) / (1 - a).

    >>> tau_of_rate(0.5, 3)
    1.75
    """
    return float(sum(rate**power for power in range(block)))


def rate_of_tau(tau: float, block: int) -> float:
    """The one rate that gives this many tokens per pass.

    >>> round(rate_of_tau(1.75, 3), 6)
    0.5

    Raises:
        ValueError: No rate from 0 to 1 does: tau lies outside 1 to `block`.
    """
    if not 1 <= tau <= block:
        raise ValueError(f"{tau} tokens per pass do not come from blocks of {block}")
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if tau_of_rate(middle, block) < tau else (low, middle)
    return high
