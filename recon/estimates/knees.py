"""Measured times against the number of tokens: while the weights must be read anyway, more tokens are nearly free."""

from collections import defaultdict
from collections.abc import Iterable

from recon.estimates.ratios import place_of, usable
from recon.records.estimate import Growth, Knee
from recon.records.measurement import Measurement, Spread

THRESHOLD = 1.25
"""Times the time of the fewest tokens, from which on tokens are not nearly free any more."""
TOKENS = ("m", "tokens")
"""Axes that count tokens."""
FEWEST = 3
"""Numbers of tokens that make a curve."""


def knees_of(measurements: Iterable[Measurement], threshold: float = THRESHOLD) -> tuple[Knee, ...]:
    """The knee of each kernel that was timed at several numbers of tokens, all else equal, on one GPU.

    Intervals are those of ratios: each takes the far ends of the intervals of both medians.
    """
    curves: defaultdict[tuple[object, ...], dict[int, tuple[Measurement, Spread]]] = defaultdict(dict)
    for measurement in measurements:
        spread, axis = usable(measurement), next((name for name in TOKENS if name in measurement.case), "")
        place = place_of(measurement.case, [axis])
        if spread is None or measurement.device is None or place is None or measurement.role == "floor":
            continue
        rest = tuple(sorted((name, value) for name, value in measurement.case.items() if name != axis))
        key = (measurement.probe, measurement.kernel, measurement.device.uuid, measurement.device.name, rest)
        curves[key].setdefault(place[0], (measurement, spread))
    return tuple(_knee(curve, threshold) for curve in curves.values() if len(curve) >= FEWEST)


def _knee(curve: dict[int, tuple[Measurement, Spread]], threshold: float) -> Knee:
    fewest, *more = sorted(curve)
    measurement, base = curve[fewest]
    growth = tuple(_growth(tokens, curve[tokens][1], base) for tokens in more)
    passed = next((each.tokens for each in growth if each.low > threshold), 0)
    within = [each.tokens for each in growth if each.high <= threshold and (not passed or each.tokens < passed)]
    return Knee(
        probe=measurement.probe,
        kernel=measurement.kernel,
        case={name: value for name, value in measurement.case.items() if name not in TOKENS},
        device=measurement.device.name if measurement.device else "",
        fewest=fewest,
        us=base.median_us,
        threshold=threshold,
        within=max(within, default=fewest),
        passed=passed,
        growth=growth,
    )


def _growth(tokens: int, time: Spread, base: Spread) -> Growth:
    return Growth(tokens, time.median_us / base.median_us, time.low_us / base.high_us, time.high_us / base.low_us)
