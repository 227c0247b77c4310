"""Ratios of measured times."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from recon.estimates.ratios import ratios_of
from recon.records.measurement import Measurement
from tests.report.hand import DEVICE, measurement

TIMES = st.floats(min_value=0.1, max_value=1e6)


def pair(linear: float, tree: float) -> list[Measurement]:
    return [measurement("linear.fused", "baseline", linear), measurement("tree.fused", "subject", tree)]


@given(TIMES, TIMES)
def test_the_ratio_lies_within_its_interval(linear: float, tree: float) -> None:
    (ratio,) = ratios_of(pair(linear, tree))

    assert ratio.low <= ratio.ratio <= ratio.high


@given(TIMES, TIMES, st.sampled_from([0.25, 2.0, 1024.0]))
def test_the_ratio_does_not_depend_on_the_unit_of_time(linear: float, tree: float, scale: float) -> None:
    assert ratios_of(pair(linear, tree)) == ratios_of(pair(linear * scale, tree * scale))


def test_the_fastest_baseline_is_the_opponent() -> None:
    (ratio,) = ratios_of([measurement("linear.slow", "baseline", 20.0), *pair(10.0, 12.0)])

    assert ("linear.fused", 1.2) == (ratio.baseline, round(ratio.ratio, 9))


def test_a_variant_of_the_same_kernel_is_no_opponent() -> None:
    assert () == ratios_of([measurement("tree.argmax", "baseline", 9.0), measurement("tree.fused", "subject", 5.0)])


def test_cases_devices_and_probes_are_not_mixed() -> None:
    linear, tree = pair(10.0, 12.0)

    assert () == ratios_of([linear, replace(tree, case={"batch": 2})])
    assert () == ratios_of([linear, replace(tree, device=replace(DEVICE, uuid="GPU-other"))])
    assert () == ratios_of([linear, replace(tree, probe="other")])
    assert () == ratios_of([linear, replace(tree, captured=False)])  # a CUDA graph is not set against calls of Python
    assert 1 == len(ratios_of([linear, tree]))


def test_a_kernel_that_disagrees_or_was_not_timed_has_no_ratio() -> None:
    linear, tree = pair(10.0, 12.0)
    wrong = measurement("tree.fused", "subject", 5.0, mismatches=1)

    assert () == ratios_of([linear, wrong])
    assert () == ratios_of([linear, replace(wrong, spread=tree.spread)])
    assert () == ratios_of([linear, replace(tree, mode="interpret")])
    assert () == ratios_of([linear, replace(tree, device=None)])
