"""What the payload is asked to do."""

import pytest

from recon.kernels import wire
from recon.kernels.linear_greedy import spec as linear_spec
from recon.kernels.tree_greedy import spec as tree_spec
from recon.probes.linear_vs_tree import CASES, CHECKS
from recon.probes.plan import (
    ARCHS,
    BYTES_OF,
    FULL,
    MATRIX_FLOPS_OF,
    QUICK,
    bytes_moved,
    plan_compile,
    plan_gpu,
    plan_interpret,
)

TWO_GIB = 2 << 30


def test_a_quick_plan_stays_under_two_gibibytes() -> None:
    plan = plan_gpu(QUICK)

    assert TWO_GIB == plan.memory_limit_bytes
    assert plan.entries
    assert all(BYTES_OF[entry.kernel](entry.axes) <= TWO_GIB for entry in plan.entries)


def test_a_full_plan_holds_the_quick_one_and_more() -> None:
    quick, full = plan_gpu(QUICK), plan_gpu(FULL)
    cases = {str((entry.kernel, entry.variant, entry.axes)) for entry in full.entries}

    assert {str((entry.kernel, entry.variant, entry.axes)) for entry in quick.entries} < cases
    assert 0.5 == full.memory_fraction


def test_floors_come_first() -> None:
    roles = [entry.role for entry in plan_gpu().entries]
    last_floor = len(roles) - 1 - roles[::-1].index("floor")

    assert {"floor"} == set(roles[: last_floor + 1])
    assert {"nop", "read"} <= {entry.kernel for entry in plan_gpu().entries[: last_floor + 1]}


def test_chain_and_tree_are_measured_on_equal_cases() -> None:
    plan = plan_gpu(FULL)
    by_kernel = {
        kernel: [entry.axes for entry in plan.entries if (entry.kernel, entry.variant) == (kernel, "fused")]
        for kernel in ("tree_greedy", "linear_greedy")
    }

    assert by_kernel["tree_greedy"] == by_kernel["linear_greedy"] == list(CASES)


def test_variants_of_a_case_stand_together() -> None:
    entries = plan_gpu().entries
    groups = [(entry.kernel, str(entry.axes)) for entry in entries]
    runs = [group for group, before in zip(groups, [None, *groups], strict=False) if group != before]

    assert len(set(groups)) == len(runs)


def test_entries_are_numbered_as_they_stand() -> None:
    for plan in (plan_gpu(), plan_interpret(), plan_compile()):
        assert list(range(len(plan.entries))) == [entry.id for entry in plan.entries]


def test_nothing_is_timed_on_data_like_that_of_a_check() -> None:
    timed = {str(axes) for axes in CASES}

    assert not timed & {str(axes) for axes in CHECKS}


def test_checks_are_awkward() -> None:
    vocabularies = {axes["vocab"] for axes in CHECKS}

    assert {1, 7, 32_003, 151_936, 248_320} <= vocabularies
    assert {"bf16", "fp16", "fp32"} == {axes["dtype"] for axes in CHECKS}
    assert {"chain", "star", "padded"} <= {axes.get("shape") for axes in CHECKS}
    assert {"nan", "infinite", "negative", "zeros", "ties"} <= {axes.get("values") for axes in CHECKS}
    assert {"padded", "node_major", "strided"} <= {axes.get("layout") for axes in CHECKS}
    assert any(axes["nodes"] == 1 for axes in CHECKS)
    assert any(int(axes["nodes"]) > 256 for axes in CHECKS)


def test_the_interpreter_is_given_small_shapes_alone() -> None:
    for check in plan_interpret().checks:
        size = int(check.axes.get("bytes", 0)) + int(check.axes.get("nodes", 0)) * int(check.axes.get("vocab", 0))

        assert size < 100_000


def test_every_kernel_of_ours_is_built_once() -> None:
    plan = plan_compile((90, 120))

    assert (90, 120) == plan.archs
    assert [
        *("copy", "linear_block", "linear_greedy", "linear_stochastic", "nop", "read"),
        *("tree_greedy", "tree_multi_round", "tree_target_only"),
    ] == sorted(entry.kernel for entry in plan.entries)
    assert ARCHS == plan_compile().archs


def test_a_lazy_form_is_held_to_the_rows_that_it_visits() -> None:
    axes: wire.Axes = {"batch": 2, "nodes": 8, "vocab": 10, "dtype": "bf16", "accepted": 3}
    small = 2 * 8 * 24 + 8

    assert 2 * 8 * 10 * 2 + small == bytes_moved("tree_greedy", "fused", axes, {})
    assert 2 * 4 * 10 * 2 + small == bytes_moved("tree_greedy", "lazy", axes, {})
    assert 2 * 4 * 10 * 2 + small == bytes_moved("tree_greedy", "auto", axes, {"form": "lazy"})
    assert 2 * 8 * 10 * 2 + small == bytes_moved("tree_greedy", "auto", axes, {"form": "fused"})


def test_none_some_and_many_accepted_drafts_are_timed() -> None:
    for kernel in ("tree_greedy", "tree_target_only"):
        timed = {entry.axes["accepted"] for entry in plan_gpu(FULL).entries if entry.kernel == kernel}

        assert {0, 3, 8} == timed


def test_operations_are_counted() -> None:
    axes: wire.Axes = {"batch": 2, "nodes": 3, "vocab": 10}

    assert 2 * 2 * 3 * 5 == MATRIX_FLOPS_OF["gemm"]({"m": 2, "n": 3, "k": 5})
    assert 66 == tree_spec.comparisons_of(axes) == linear_spec.comparisons_of(axes)
    assert {"gemm"} == {
        kernel for kernel in MATRIX_FLOPS_OF if MATRIX_FLOPS_OF[kernel](axes | {"m": 1, "n": 1, "k": 1})
    }


@pytest.mark.parametrize(
    ("kernel", "axes", "expected"),
    [
        ("nop", {}, 0),
        ("copy", {"bytes": 100}, 200),
        ("read", {"bytes": 1 << 20}, (1 << 20) + 4 * 4096),
        ("gemm", {"m": 2, "n": 3, "k": 5}, 2 * (10 + 15 + 6)),
        ("linear_greedy", {"batch": 2, "nodes": 3, "vocab": 10, "dtype": "fp32"}, 240 + 6 * 16 + 8),
        ("tree_greedy", {"batch": 2, "nodes": 3, "vocab": 10, "dtype": "bf16"}, 120 + 6 * 24 + 8),
        ("tree_target_only", {"batch": 2, "nodes": 3, "vocab": 10, "dtype": "bf16"}, 120 + 6 * 28 + 16 + 8),
        ("tree_multi_round", {"batch": 2, "nodes": 3, "vocab": 10, "dtype": "bf16"}, 240 + 6 * 28 + 16 + 8),
        ("linear_stochastic", {"batch": 2, "nodes": 3, "vocab": 10, "dtype": "bf16"}, 240 + 6 * 20 + 16 + 8),
        (
            "linear_stochastic",
            {"batch": 2, "nodes": 3, "vocab": 10, "dtype": "bf16", "drafter": "none"},
            120 + 6 * 20 + 16 + 8,
        ),
        ("linear_block", {"batch": 2, "nodes": 3, "vocab": 10, "dtype": "bf16"}, 480 + 6 * 20 + 16 + 8),
    ],
)
def test_bytes_are_counted_once_each(kernel: str, axes: wire.Axes, expected: int) -> None:
    assert expected == BYTES_OF[kernel](axes)
