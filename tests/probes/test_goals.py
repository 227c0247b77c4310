"""Goals that are set for one H200: what is held, against what, and that a goal nobody measured is not kept."""

from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from recon.kernels import wire
from recon.probes.plan import FULL, GROUPS, plan_gpu
from recon.records.measurement import Floor, Measurement
from tests.report.hand import measurement

TOOL: Any = import_module("tools.gpu_goals")
PLANS = {group: plan_gpu(FULL, probes=GROUPS[group]) for group in ("attention", "recurrent", "caches")}


def measured(plan: wire.Plan, ratio: float) -> tuple[Measurement, ...]:
    """Every entry of a plan, timed at so many times a floor of 10 microseconds; slower ones are baselines."""
    slower = frozenset(("delta_step.step",))
    made = (
        measurement(wire.name_of(each), each.role, 10.0 * ratio * (20 if wire.name_of(each) in slower else 1))
        for each in plan.entries
    )
    floor = Floor(10.0, "memory", "by hand")
    return tuple(replace(each, case=entry.axes, floor=floor) for each, entry in zip(made, plan.entries, strict=True))


@pytest.mark.parametrize(
    ("group", "bounds"),
    [
        ("attention", [1.5, 1.7, 1.8, 2.2, 2.3]),
        ("recurrent", [5.5, 11.0, 22.0, 29.0]),
        ("caches", [1.7, 2.7]),
    ],
)
def test_each_bound_over_the_floor_is_held(group: str, bounds: list[float]) -> None:
    """Just above the greatest of them, with what scatter may take, none is kept."""
    words = [goal for goal, _ in TOOL.goals(measured(PLANS[group], 1.0)) if "times the floor" in goal]

    assert bounds == sorted({float(goal.split("at most ")[1].split(";")[0]) for goal in words})
    assert all(kept for _, kept in TOOL.goals(measured(PLANS[group], 1.5)))
    assert not any(
        kept for goal, kept in TOOL.goals(measured(PLANS[group], bounds[-1] * 1.06)) if "times the floor" in goal
    )


def test_a_tree_that_takes_longer_than_its_chain_is_missed() -> None:
    made = [
        replace(each, spread=replace(each.spread, median_us=16.0)) if each.kernel == "tree_attention.tree" else each
        for each in measured(PLANS["attention"], 1.5)
        if each.spread
    ]
    over = [kept for goal, kept in TOOL.goals(tuple(made)) if "times its chain" in goal]

    assert over
    assert not any(over)


@pytest.mark.parametrize("group", PLANS)
def test_a_goal_that_nobody_measured_is_missed(group: str) -> None:
    whole = measured(PLANS[group], 1.0)
    wrong = tuple(replace(each, spread=None) for each in whole)
    spoken = [each for each in whole if each.kernel in TOOL.SPOKEN_OF]

    assert [] == TOOL.untimed(PLANS[group], whole)
    assert len(spoken) == len(TOOL.untimed(PLANS[group], wrong)) > 0
    assert not any(kept for _, kept in TOOL.untimed(PLANS[group], wrong))
