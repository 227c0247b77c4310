"""Where more tokens cease to be nearly free."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from recon.estimates.knees import knees_of
from recon.records.estimate import Knee
from recon.records.measurement import Measurement
from tests.report.hand import DEVICE, measurement

GATE_UP = {1: 85.2, 64: 92.0, 128: 92.8, 192: 129.1, 256: 132.4, 512: 253.6}
"""Microseconds of a weight by tokens, as an H200 took them."""


def curve(times: dict[int, float], axis: str = "m", **case: int) -> list[Measurement]:
    """Times by tokens; each interval reaches from 0.99 to 1.02 of its median."""
    return [
        measurement("gemm.torch", "subject", us, case={axis: tokens, "n": 10, "k": 20, **case})
        for tokens, us in times.items()
    ]


def knee(measurements: list[Measurement], threshold: float = 1.25) -> Knee:
    (found,) = knees_of(measurements, threshold)
    return found


def test_the_knee_lies_between_the_last_within_and_the_first_beyond() -> None:
    found = knee(curve(GATE_UP))

    assert (1, 128, 192) == (found.fewest, found.within, found.passed)
    assert {"n": 10, "k": 20} == found.case
    assert [64, 128, 192, 256, 512] == [each.tokens for each in found.growth]
    assert [1.08, 1.09, 1.52, 1.55, 2.98] == [round(each.ratio, 2) for each in found.growth]


def test_what_may_lie_on_either_side_is_on_neither() -> None:
    found = knee(curve({1: 100.0, 8: 110.0, 16: 125.0, 32: 140.0}))

    assert (8, 32) == (found.within, found.passed)


def test_a_curve_that_never_grows_has_no_end() -> None:
    found = knee(curve({1: 100.0, 8: 100.0, 16: 101.0}))

    assert (16, 0) == (found.within, found.passed)


def test_a_dip_behind_the_knee_does_not_move_it() -> None:
    found = knee(curve({1: 100.0, 8: 150.0, 16: 101.0}))

    assert (1, 8) == (found.within, found.passed)


def test_the_threshold_is_the_callers() -> None:
    assert (512, 0) == (knee(curve(GATE_UP), 4.0).within, knee(curve(GATE_UP), 4.0).passed)


def test_order_does_not_matter_and_fewest_is_what_was_measured() -> None:
    turned = knee(curve(dict(reversed(GATE_UP.items())), axis="tokens"))

    assert knee(curve(GATE_UP, axis="tokens")) == turned
    assert 64 == knee(curve({64: 92.0, 128: 92.8, 256: 132.4})).fewest


def test_weights_devices_and_probes_are_not_mixed() -> None:
    whole = curve(GATE_UP)

    assert 2 == len(knees_of([*whole, *curve(GATE_UP, n=11)]))
    assert 2 == len(knees_of([*whole, *(replace(each, probe="other") for each in whole)]))
    assert 2 == len(knees_of([*whole, *(replace(each, device=replace(DEVICE, uuid="GPU-2")) for each in whole)]))


def test_two_points_or_what_was_not_timed_or_disagrees_make_no_curve() -> None:
    whole = curve(GATE_UP)

    assert () == knees_of(whole[:2])
    assert () == knees_of([replace(each, mode="interpret") for each in whole])
    assert () == knees_of([replace(each, role="floor") for each in whole])
    assert () == knees_of([measurement("gemm.torch", "subject", 5.0, mismatches=1, case=each.case) for each in whole])
    assert () == knees_of([measurement("tree.fused", "subject", us) for us in (1.0, 2.0, 3.0)])


@given(st.dictionaries(st.integers(1, 999), st.floats(0.1, 1e6), min_size=3, max_size=9), st.floats(1.0, 9.0))
def test_the_knee_lies_within_what_was_measured(times: dict[int, float], threshold: float) -> None:
    found = knee(curve(times), threshold)

    assert found.within in times
    assert found.passed in {0, *times}
    assert not found.passed or found.within < found.passed
    assert all(each.low <= each.ratio <= each.high for each in found.growth)
