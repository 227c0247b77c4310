"""On a GPU, where there is one: every kernel agrees there and is timed."""

import dataclasses

import pytest

from recon.probes.plan import plan_gpu
from tests.kernels.here import here

pytestmark = pytest.mark.gpu


def test_small_cases_agree_and_are_timed() -> None:
    plan = plan_gpu(allow_busy=True)
    entries = tuple(each for each in plan.entries if each.axes.get("batch", 1) == 1)
    entries = tuple(dataclasses.replace(each, id=number) for number, each in enumerate(entries))
    result = here(dataclasses.replace(plan, entries=entries))

    assert () == result.unknowns
    assert len(entries) == len(result.measurements)
    for each in result.measurements:
        assert each.spread is not None, each.kernel
        assert each.spread.samples >= 30
        assert each.floor is None or each.spread.median_us > each.floor.us
