"""How samples scatter, without assuming a distribution."""

import math
import statistics
from collections.abc import Sequence

from recon.records.measurement import Spread

COVERAGE = 0.95


def spread_of(samples_us: Sequence[float]) -> Spread:
    """Median with its order-statistic interval at 95 %, and the samples nearest to the tenth and ninetieth percentiles.

    Fewer than six samples hold no such interval: then it is their whole range.

    Raises:
        ValueError: there are no samples.

    >>> spread_of([3.0, 1.0, 2.0]).median_us
    2.0
    """
    if not samples_us:
        raise ValueError("no samples")
    ordered = sorted(samples_us)
    rank = interval_rank(len(ordered))
    tenth = round((len(ordered) - 1) / 10)
    return Spread(
        median_us=statistics.median(ordered),
        low_us=ordered[rank],
        high_us=ordered[-1 - rank],
        p10_us=ordered[tenth],
        p90_us=ordered[-1 - tenth],
        samples=len(ordered),
    )


def interval_rank(samples: int) -> int:
    """How many samples at each end lie outside of the narrowest interval that covers the median at 95 %.

    The number of samples under the true median is binomial with p = 1/2, whatever their distribution.

    >>> interval_rank(50)
    17
    """
    outside, rank = 0, 0
    while True:
        outside += math.comb(samples, rank)  # samples out of 2**samples, at one end
        if 2 * outside > (1 - COVERAGE) * 2**samples:
            return max(0, rank - 1)
        rank += 1
