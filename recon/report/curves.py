"""Measured times by the number of tokens, a line for each weight: how long it is nearly free, and what follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from recon.records.estimate import Growth, Knee
from recon.records.measurement import Measurement
from recon.report.numbers import counted, microseconds, ratio, ratios

Case: TypeAlias = Mapping[str, int | float | str]


@dataclass(frozen=True, slots=True)
class Curve:
    """One kernel on one weight, in words."""

    kernel: str
    case: str
    first: str
    """Time at the fewest tokens."""
    free: str
    """Up to how many tokens it is nearly free."""
    then: str
    """What it takes where it is not any more, and at the most tokens."""


def curve_of(knee: Knee, case: str) -> Curve:
    """A knee in words.

    Args:
        knee: What was measured.
        case: Its axes in words.
    """
    first, last = knee.growth[0], knee.growth[-1]
    none = "not at all" if knee.passed == first.tokens else f"unclear at {first.tokens}"
    told = [each for each in knee.growth if each.tokens == knee.passed or each is last]
    return Curve(
        kernel=knee.kernel,
        case=case,
        first=f"{microseconds(knee.us)} at {knee.fewest}",
        free=f"{knee.within}" if knee.within > knee.fewest else none,
        then=", ".join(map(_growth_words, told)),
    )


def _growth_words(growth: Growth) -> str:
    return f"{ratio(growth.ratio)} ({ratios(growth.low, growth.high)}) at {growth.tokens}"


def lies_on(measurement: Measurement, knee: Knee) -> bool:
    """Whether a measurement is a point of a curve."""
    device = measurement.device.name if measurement.device else ""
    same = (measurement.probe, measurement.kernel, device) == (knee.probe, knee.kernel, knee.device)
    return same and len(measurement.case) == len(knee.case) + 1 and knee.case.items() <= measurement.case.items()


def knees_words(measured: Sequence[Knee]) -> tuple[str, ...]:
    """Knees as sentences, one for each kernel on a GPU: the least and the most tokens that are nearly free."""
    groups: dict[tuple[str, str, float], list[Knee]] = {}
    for each in measured:
        groups.setdefault((each.device, each.kernel, each.threshold), []).append(each)
    return tuple(
        f"On {device}, {kernel} takes at most {ratio(threshold)} the time of the fewest tokens up to {_span(knees)}."
        for (device, kernel, threshold), knees in groups.items()
    )


def _span(knees: Sequence[Knee]) -> str:
    ends = sorted({each.within for each in knees})
    words = counted(ends[0], "token") if len(ends) == 1 else f"{ends[0]} to {counted(ends[-1], 'token')}"
    return f"{words}, by the case" if len(ends) > 1 else words
