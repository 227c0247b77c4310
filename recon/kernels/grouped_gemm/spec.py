"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it.

Which tokens go to which experts follows from the case, not from the seed: what must be moved hangs on how many distinct
experts are asked.
"""

import math
import random
from functools import cache

from ..wire import Axes

NAME = "grouped_gemm"
AXES = ("tokens", "experts", "active", "n", "k", "routing", "part", "weight", "dtype")
ROUTINGS = ("uniform", "skewed", "same")
"""Every expert alike; a few experts far more often; all tokens to the same experts."""


def routing_of(axes: Axes) -> tuple[tuple[int, ...], ...]:
    """Experts of each token, distinct ones."""
    return _routing(int(axes["tokens"]), int(axes["experts"]), int(axes["active"]), str(axes["routing"]))


@cache
def _routing(tokens: int, experts: int, active: int, routing: str) -> tuple[tuple[int, ...], ...]:
    """`active` of the experts for each token, without replacement; skewed: the r-th most liked has a weight of 1/r."""
    rng = random.Random(f"{tokens} {experts} {active} {routing}")  # noqa: S311  test data, no secret
    liked = rng.sample(range(experts), experts)
    if routing == "same":
        return (tuple(liked[:active]),) * tokens
    if routing == "uniform":
        return tuple(tuple(rng.sample(liked, active)) for _ in range(tokens))
    weights = [1 / (place + 1) for place in range(experts)]
    return tuple(tuple(_drawn(liked, weights, active, rng)) for _ in range(tokens))


def _drawn(liked: list[int], weights: list[float], many: int, rng: random.Random) -> list[int]:
    """So many without replacement: the first of exponential clocks that run at the weights."""
    clocks = [-math.log(1.0 - rng.random()) / weight for weight in weights]
    return [liked[place] for place in sorted(range(len(liked)), key=clocks.__getitem__)[:many]]


def distinct_of(axes: Axes) -> int:
    """Experts that at least one token is sent to."""
    return len({expert for chosen in routing_of(axes) for expert in chosen})


def pairs_of(axes: Axes) -> int:
    """Pairs of a token and one of its experts."""
    return int(axes["tokens"]) * int(axes["active"])


def rows_of(axes: Axes) -> int:
    """Rows of the first operand: tokens on the way into the experts (`up`), pairs on the way out (`down`)."""
    return int(axes["tokens"]) if axes["part"] == "up" else pairs_of(axes)


def bytes_of(axes: Axes) -> int:
    """Rows and the weights of the experts that are asked read once, the products written once, all bf16."""
    n, k = int(axes["n"]), int(axes["k"])
    return 2 * (rows_of(axes) * k + distinct_of(axes) * n * k + pairs_of(axes) * n) + 4 * pairs_of(axes)


def held_bytes_of(axes: Axes) -> int:
    """Likewise with the weights of all experts."""
    return bytes_of(axes) + 2 * (int(axes["experts"]) - distinct_of(axes)) * int(axes["n"]) * int(axes["k"])


def matrix_flops_of(axes: Axes) -> int:
    """A multiplication and an addition for each of n*k and each pair."""
    return 2 * pairs_of(axes) * int(axes["n"]) * int(axes["k"])
