"""Times are told as they were measured, enclosed by measured ones, or not at all."""

from dataclasses import replace

import pytest

from recon.estimates.times import Missing, Times, added
from recon.records.cost import Ground, Quantity
from tests.estimates.probed import timed
from tests.report.hand import DEVICE

STAIRS = Times(timed("gemm.torch", us, DEVICE, n=64, m=tokens) for tokens, us in ((1, 80.0), (128, 88.0), (192, 130.0)))


def told(times: Times, **at: int) -> Quantity:
    found = times.time("gemm.torch", {"n": 64}, at)
    assert isinstance(found, Quantity), found
    return found


def refused(found: Quantity | Missing) -> str:
    assert isinstance(found, Missing), found
    return found.why


def test_a_measured_case_is_told_with_its_own_interval() -> None:
    found = told(STAIRS, m=128)

    assert (Ground.MEASURED, 88.0) == (found.ground, found.value)
    assert (88 * 0.99, 88 * 1.01) == (found.low, found.high)


def test_between_two_cases_the_interval_reaches_from_the_one_to_the_other() -> None:
    """The step lies somewhere between 128 and 192, and nobody measured where."""
    found = told(STAIRS, m=160)

    assert (Ground.BETWEEN, "gemm.torch between 128 and 192 m") == (found.ground, found.source)
    assert (88 * 0.99, 130 * 1.01) == (found.low, found.high)


def test_a_step_is_not_smoothed_away() -> None:
    """The times at both edges of a step are those measured there, whatever lies around."""
    assert [88.0, 130.0] == [told(STAIRS, m=tokens).value for tokens in (128, 192)]


@pytest.mark.parametrize("tokens", [193, 512])
def test_beyond_the_largest_case_no_time_is_told(tokens: int) -> None:
    assert f"gemm.torch was timed up to m 192, not at m {tokens}" == refused(
        STAIRS.time("gemm.torch", {"n": 64}, {"m": tokens})
    )


def test_where_no_case_is_large_enough_in_all_that_is_said_and_not_how_far_each_goes() -> None:
    """Batches are timed at short contexts alone, and long contexts at one request."""
    apart = Times([timed("k", 9.0, DEVICE, batch=8, context=8192), timed("k", 9.0, DEVICE, batch=1, context=131072)])

    assert "k was timed in no case that has at least batch 8, context 32768 together" == refused(
        apart.time("k", {}, {"batch": 8, "context": 32768})
    )


def test_below_the_smallest_case_no_time_is_told_unless_the_hardware_says_one() -> None:
    few = Times([timed("k", 9.0, DEVICE, m=8)])

    assert "k was timed from m 8, not at m 4" == refused(few.time("k", {}, {"m": 4}))
    assert Quantity(4.795, 0.5, 9.09, Ground.BETWEEN, "k below m 8") == few.time("k", {}, {"m": 4}, least_us=0.5)


def test_other_shapes_have_no_time() -> None:
    assert "gemm.torch was not timed in these shapes" == refused(STAIRS.time("gemm.torch", {"n": 65}, {"m": 1}))


def test_where_several_axes_differ_a_time_lies_between_the_smaller_and_the_larger_cases() -> None:
    points = {(1, 1024): 10.0, (1, 4096): 20.0, (8, 1024): 30.0, (8, 4096): 90.0}
    times = Times(timed("a", us, DEVICE, batch=batch, context=context) for (batch, context), us in points.items())
    found = times.time("a", {}, {"batch": 4, "context": 2048})

    assert isinstance(found, Quantity)
    assert (10 * 0.99, 90 * 1.01) == (found.low, found.high)


def test_along_one_axis_the_nearest_neighbours_count() -> None:
    points = {(1, 1024): 10.0, (1, 4096): 20.0, (8, 1024): 30.0, (1, 8192): 90.0}
    times = Times(timed("a", us, DEVICE, batch=batch, context=context) for (batch, context), us in points.items())
    found = times.time("a", {}, {"batch": 1, "context": 2560})

    assert isinstance(found, Quantity)
    assert 15.0 == pytest.approx(found.value)


def test_an_axis_can_be_forbidden() -> None:
    """A case with a warm cache is another case than one without a word about it."""
    times = Times([timed("k", 2.0, DEVICE, batch=1, cache="warm"), timed("k", 3.0, DEVICE, batch=1)])

    assert [2.0, 3.0] == [
        found.value
        for cache in ("warm", None)
        if isinstance(found := times.time("k", {"cache": cache}, {"batch": 1}), Quantity)
    ]


def test_the_fastest_of_several_kernels_is_taken_and_named() -> None:
    times = Times([timed("a", 2.0, DEVICE, m=1), timed("b", 1.0, DEVICE, m=1)])
    found = times.fastest(("a", "b", "c"), {}, {"m": 1})

    assert isinstance(found, Quantity)
    assert (1.0, "b at m 1") == (found.value, found.source)


def test_times_of_a_kernel_that_disagrees_or_of_another_gpu_are_not_used() -> None:
    wrong = timed("a", 2.0, DEVICE, m=1)
    assert wrong.agreement is not None
    wrong = replace(wrong, agreement=replace(wrong.agreement, mismatches=1))
    other = timed("b", 1.0, replace(DEVICE, name="NVIDIA B200"), m=1)
    times = Times([wrong, timed("c", 1.0, DEVICE, m=1), other])

    assert [True, True, False] == [isinstance(times.time(name, {}, {"m": 1}), Missing) for name in "abc"]


def test_sums_have_the_weakest_ground_and_the_sums_of_the_ends() -> None:
    one = Quantity(2.0, 1.0, 3.0, Ground.MEASURED, "")
    other = Quantity(5.0, 4.0, 6.0, Ground.BETWEEN, "")

    assert Quantity(12.0, 9.0, 15.0, Ground.BETWEEN, "both") == added([(1, one), (2, other)], "both")


@pytest.mark.parametrize("odd", ["8", "x", 8.5, 8.0])
def test_a_case_that_counts_in_anything_but_whole_numbers_is_no_place(odd: str | float) -> None:
    """A saved run may have been changed by hand."""
    one = timed("k", 9.0, DEVICE, m=8)
    times = Times([replace(one, case={"m": odd}), timed("k", 20.0, DEVICE, m=16)])

    assert "k was timed from m 16, not at m 8" == refused(times.time("k", {}, {"m": 8}))


@pytest.mark.parametrize(
    ("low", "median", "high"), [(0.0, 1.0, 2.0), (-2.0, -1.0, 1.0), (3.0, 2.0, 4.0), (1.0, 5.0, 4.0), (4.0, 4.0, 3.0)]
)
def test_a_time_outside_of_its_own_interval_is_not_used(low: float, median: float, high: float) -> None:
    one = timed("k", 9.0, DEVICE, m=8)
    assert one.spread

    assert not Times([replace(one, spread=replace(one.spread, low_us=low, median_us=median, high_us=high))])
