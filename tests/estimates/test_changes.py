"""Times of two runs: told by their intervals, and under equal conditions alone."""

from dataclasses import replace
from typing import Any

import pytest

from recon.estimates.changes import times_changed
from recon.records.difference import Outcome, TimeChange
from recon.records.measurement import DeviceState, Measurement, Spread
from tests.report.hand import DEVICE, measurement


def timed(median: float, low: float, high: float, **changed: Any) -> Measurement:
    return replace(measurement("k", "subject", median), spread=Spread(median, low, high, low, high, 50), **changed)


def changed(before: Measurement, after: Measurement) -> TimeChange:
    ((change,), *alone) = times_changed([before], [after])
    assert [0, 0] == alone
    return change


@pytest.mark.parametrize("odd", [(10.0, 9.9, 0.0), (10.0, 0.0, 10.1), (0.0, 0.0, 0.0), (-1.0, -2.0, -0.5), (10, 11, 9)])
@pytest.mark.parametrize("turned", [False, True])
def test_times_that_cannot_be_are_not_compared(odd: tuple[float, float, float], turned: bool) -> None:
    """Of a file that was changed by hand: medians outside of their intervals, or no times at all."""
    pair = (timed(10.0, 9.95, 10.05), timed(*odd))
    change = changed(*(pair[::-1] if turned else pair))

    assert (Outcome.CANNOT_TELL, None) == (change.outcome, change.ratio)


@pytest.mark.parametrize(
    ("low", "median", "high", "outcome"),
    [
        (8.0, 8.2, 8.4, Outcome.FASTER),
        (12.0, 12.1, 12.2, Outcome.SLOWER),
        (9.97, 10.0, 10.03, Outcome.SAME),
        (10.05, 10.06, 10.07, Outcome.SAME),
        (9.0, 10.0, 11.0, Outcome.CANNOT_TELL),
        (9.7, 9.75, 9.9, Outcome.FASTER),
        (9.7, 9.75, 9.97, Outcome.CANNOT_TELL),
    ],
)
def test_intervals_tell_what_became_of_a_time(low: float, median: float, high: float, outcome: Outcome) -> None:
    """The first is 10 us, 9.95 to 10.05; what is off by less than two percent with its whole interval is the same."""
    change = changed(timed(10.0, 9.95, 10.05), timed(median, low, high))

    assert outcome is change.outcome
    assert (median / 10.0, low / 10.05, high / 9.95) == (change.ratio, change.low, change.high)


STATE = DeviceState("1980", "2619", "300", "700.00 W", "40", "", "Enabled", "Disabled", "")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"device": replace(DEVICE, driver="575.1")}, "driver: 570.124.06 before, 575.1 after"),
        ({"device": replace(DEVICE, torch="2.14.0")}, "torch: 2.13.0 before, 2.14.0 after"),
        ({"device": replace(DEVICE, triton="3.7.0")}, "triton: 3.6.0 before, 3.7.0 after"),
        ({"device": replace(DEVICE, cuda="13.0")}, "CUDA: 12.8 before, 13.0 after"),
        ({"device": replace(DEVICE, uuid="GPU-2")}, "card: GPU-5f1c before, GPU-2 after"),
        ({"config": {"block": 4096}}, "choices: block 8192 before, block 4096 after"),
        ({"captured": False}, "way: a graph before, queued by Python after"),
        ({"before": replace(STATE, power_limit_w="500.00 W")}, "power limit w: 700.00 W before, 500.00 W after"),
        ({"before": None}, "power limit w: 700.00 W before, not known after"),
    ],
)
def test_under_other_conditions_nothing_is_told_and_it_is_said_what_differs(fields: dict[str, Any], said: str) -> None:
    change = changed(timed(10.0, 9.9, 10.1, before=STATE), timed(5.0, 4.9, 5.1, **{"before": STATE, **fields}))

    assert (Outcome.CANNOT_TELL, 0.5) == (change.outcome, change.ratio)
    assert said in change.differs


def test_python_counts_only_where_it_queued_the_calls() -> None:
    other = replace(DEVICE, python="3.13.0")

    assert () == changed(timed(10, 9, 11), timed(10, 9, 11, device=other)).differs
    assert ("Python: 3.12.3 before, 3.13.0 after",) == changed(
        timed(10, 9, 11, captured=False), timed(10, 9, 11, captured=False, device=other)
    ).differs


def test_a_kernel_that_disagrees_has_no_time_to_compare() -> None:
    wrong = measurement("k", "subject", 5.0, mismatches=2)
    change = changed(timed(10.0, 9.9, 10.1), wrong)

    assert (Outcome.CANNOT_TELL, None, None) == (change.outcome, change.after, change.ratio)
    assert ("it disagrees with its reference after",) == change.differs


def test_other_cases_and_other_models_of_gpu_are_no_counterparts() -> None:
    one = timed(10.0, 9.9, 10.1)
    others = [
        replace(one, case={**one.case, "batch": 2}),
        replace(one, kernel="other"),
        replace(one, device=replace(DEVICE, name="NVIDIA B200")),
        replace(one, mode="interpret"),
    ]

    assert ((), 1, 3) == times_changed([one], others)
