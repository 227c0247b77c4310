"""How samples scatter."""

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.probes.spread import interval_rank, spread_of

TIMES = st.floats(0.01, 1e6)


def coverage(samples: int, rank: int) -> Fraction:
    """Chance that the median lies between the samples of this rank from either end."""
    return 1 - 2 * sum((Fraction(math.comb(samples, k), 2**samples) for k in range(rank + 1)), Fraction(0))


@pytest.mark.parametrize("samples", [6, 7, 30, 50, 51, 200])
def test_the_interval_is_the_narrowest_that_covers_the_median_at_95_percent(samples: int) -> None:
    rank = interval_rank(samples)

    assert coverage(samples, rank) >= Fraction(95, 100) > coverage(samples, rank + 1)


@pytest.mark.parametrize(("samples", "expected"), [(1, 0), (5, 0), (6, 0), (30, 9), (50, 17), (100, 39)])
def test_ranks_are_those_of_the_tables(samples: int, expected: int) -> None:
    assert expected == interval_rank(samples)


def test_the_interval_covers_the_median_about_as_often_as_it_says() -> None:
    rng = random.Random(1)
    hits = 0
    for _ in range(2000):
        spread = spread_of([rng.expovariate(1.0) for _ in range(50)])
        hits += spread.low_us <= math.log(2) <= spread.high_us

    assert 0.94 < hits / 2000 < 0.99


@given(st.lists(TIMES, min_size=1, max_size=80))
def test_a_spread_is_ordered_and_stays_within_the_samples(samples: list[float]) -> None:
    spread = spread_of(samples)

    assert len(samples) == spread.samples
    assert min(samples) <= spread.low_us <= spread.median_us <= spread.high_us <= max(samples)
    assert min(samples) <= spread.p10_us <= spread.p90_us <= max(samples)


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_order_does_not_matter_and_scale_carries_over(samples: list[int], rng: random.Random) -> None:
    times = [float(each) for each in samples]
    shuffled = rng.sample(times, len(times))

    assert spread_of(times) == spread_of(shuffled)
    assert 4 * spread_of(times).median_us == spread_of([4 * each for each in times]).median_us


def test_no_samples_have_no_spread() -> None:
    with pytest.raises(ValueError, match="no samples"):
        spread_of([])
