"""Measured times against each other: a subject over its baseline, of one probe, one case and one GPU."""

from collections import defaultdict
from collections.abc import Iterable

from recon.records.estimate import Ratio
from recon.records.measurement import Measurement, Spread


def usable(measurement: Measurement) -> Spread | None:
    """The spread that may be compared: timed on a GPU, after the kernel agreed with its reference."""
    if measurement.mode != "gpu" or measurement.device is None or disagrees(measurement):
        return None
    spread = measurement.spread
    return spread if spread is not None and spread.low_us > 0 else None


def disagrees(measurement: Measurement) -> bool:
    """Whether the kernel gave another answer than its reference."""
    return measurement.agreement is not None and measurement.agreement.mismatches > 0


def ratios_of(measurements: Iterable[Measurement]) -> tuple[Ratio, ...]:
    """Every subject over every baseline that shares its probe, its case and its GPU, in the order given.

    The interval takes the far ends of both intervals, so it is wider than either alone would make it.
    """
    pairs: defaultdict[tuple[object, ...], list[tuple[Measurement, Spread]]] = defaultdict(list)
    for measurement in measurements:
        spread = usable(measurement)
        if spread is not None and measurement.device is not None:
            case = tuple(sorted(measurement.case.items()))
            key = (measurement.probe, case, measurement.device.uuid, measurement.device.name)
            pairs[key].append((measurement, spread))
    return tuple(
        _ratio(subject, time, baseline, base)
        for group in pairs.values()
        for subject, time in group
        if subject.role == "subject"
        for baseline, base in group
        if baseline.role == "baseline"
    )


def _ratio(subject: Measurement, time: Spread, baseline: Measurement, base: Spread) -> Ratio:
    return Ratio(
        probe=subject.probe,
        case=subject.case,
        baseline=baseline.kernel,
        subject=subject.kernel,
        device=subject.device.name if subject.device else "",
        ratio=time.median_us / base.median_us,
        low=time.low_us / base.high_us,
        high=time.high_us / base.low_us,
    )
