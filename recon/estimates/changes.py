"""Times of two runs against each other: faster, slower, the same, or not to be told.

Both times are medians with their 95 % intervals; the interval of their ratio takes the far ends of both, so it is wider
than either alone would make it. It is of the scatter within each run. Because more than that may differ between runs,
times are compared under equal conditions alone: the same card, driver and libraries, one way of timing, equal limits.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from recon.estimates.ratios import disagrees, usable
from recon.records.difference import Outcome, TimeChange
from recon.records.measurement import DeviceState, Measurement

SAME = 0.02
"""Ratios within this of 1 are called the same, with their whole interval: a convention, not a measured scatter."""

Key: TypeAlias = tuple[object, ...]

_LIMITS = ("power_limit_w", "throttle_reasons", "ecc", "mig", "other_processes")


def times_changed(
    before: Iterable[Measurement], after: Iterable[Measurement]
) -> tuple[tuple[TimeChange, ...], int, int]:
    """Kernels that both runs looked at on a GPU of one model, then how many each has alone.

    Where a case was timed twice in one run, its first time is taken.
    """
    first, second = _by_key(before), _by_key(after)
    both = [key for key in first if key in second]
    changes = tuple(_change(first[key], second[key]) for key in both)
    return changes, len(first) - len(both), len(second) - len(both)


def _by_key(measurements: Iterable[Measurement]) -> dict[Key, Measurement]:
    found: dict[Key, Measurement] = {}
    for each in measurements:
        if each.mode == "gpu" and each.device is not None and (each.spread or disagrees(each)):
            case = tuple(sorted(each.case.items()))
            found.setdefault((each.probe, each.kernel, case, each.role, each.device.name), each)
    return found


def outcome_of(low: float, high: float) -> Outcome:
    """What an interval of ratios tells.

    >>> [outcome_of(*each).value for each in ((0.9, 0.97), (1.03, 1.1), (0.99, 1.015), (0.97, 1.1))]
    ['faster', 'slower', 'same', 'cannot_tell']
    """
    if low >= 1 - SAME and high <= 1 + SAME:
        return Outcome.SAME
    if high < 1:
        return Outcome.FASTER
    return Outcome.SLOWER if low > 1 else Outcome.CANNOT_TELL


def _change(before: Measurement, after: Measurement) -> TimeChange:
    one, other = usable(before), usable(after)
    differs = tuple(_differing(before, after))
    ratio = low = high = None
    outcome = Outcome.CANNOT_TELL
    if one is not None and other is not None:
        ratio, low, high = other.median_us / one.median_us, other.low_us / one.high_us, other.high_us / one.low_us
        outcome = Outcome.CANNOT_TELL if differs else outcome_of(low, high)
    return TimeChange(
        probe=before.probe,
        kernel=before.kernel,
        case=before.case,
        gpu=before.device.name if before.device else "",
        before=one,
        after=other,
        ratio=ratio,
        low=low,
        high=high,
        outcome=outcome,
        differs=differs,
    )


def _differing(before: Measurement, after: Measurement) -> Iterator[str]:
    for when, each in (("before", before), ("after", after)):
        if disagrees(each):
            yield f"it disagrees with its reference {when}"
    one, other = _conditions(before), _conditions(after)
    for name, value in one.items():
        if value != other[name]:
            yield f"{name}: {value or 'not known'} before, {other[name] or 'not known'} after"


def _conditions(each: Measurement) -> dict[str, str]:
    """All that times hang on besides the kernel, in words. Python counts where it queued the calls."""
    device, state = each.device, each.before
    known = {
        "method": each.method,
        "way": "a graph" if each.captured else "queued by Python",
        "choices": ", ".join(f"{name} {value}" for name, value in each.config.items()),
    }
    if device is not None:
        known |= {
            "card": device.uuid,
            "driver": device.driver,
            "CUDA": device.cuda,
            "torch": device.torch,
            "triton": device.triton,
            "Python": "" if each.captured else device.python,
        }
    return known | _limits(state)


def _limits(state: DeviceState | None) -> dict[str, str]:
    return {name.replace("_", " "): getattr(state, name) if state else "" for name in _LIMITS}
