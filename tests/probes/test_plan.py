"""What the payload is asked to do."""

import pytest

from recon.kernels import wire
from recon.kernels.grouped_gemm import spec as grouped_spec
from recon.kernels.linear_greedy import spec as linear_spec
from recon.kernels.tree_greedy import spec as tree_spec
from recon.probes.floors import FLOORS
from recon.probes.linear_vs_tree import CASES, CHECKS, LINEAR_VS_TREE
from recon.probes.models import model_of, presets
from recon.probes.plan import (
    ARCHS,
    BYTES_OF,
    FULL,
    GROUPS,
    MATRIX_FLOPS_OF,
    OF_ENGINES,
    PROBES,
    QUICK,
    bytes_moved,
    held_bytes,
    plan_compile,
    plan_gpu,
    plan_interpret,
)
from recon.probes.weights import FEW_TOKENS, LESS_TOKENS, TOKENS

TWO_GIB = 2 << 30
RECURRENT: wire.Axes = {
    "batch": 2,
    "nodes": 3,
    "accepted": 1,
    "state": "fp32",
    "linear_key_heads": 3,
    "linear_value_heads": 5,
    "linear_key_dim": 7,
    "linear_value_dim": 11,
    "mamba_heads": 5,
    "mamba_head_dim": 11,
    "mamba_groups": 2,
    "mamba_state": 6,
    "channels": 9,
    "width": 4,
}
DELTA_STATE, DELTA_TOKEN = 5 * 7 * 11 * 4, 2 * 3 * 7 * 2 + 5 * (11 * 2 + 8)
SSD_STATE, SSD_TOKEN = 5 * 11 * 6 * 4, 5 * (11 * 2 + 4) + 2 * 2 * 6 * 2


def test_a_quick_plan_stays_under_two_gibibytes() -> None:
    plan = plan_gpu(QUICK)

    assert TWO_GIB == plan.memory_limit_bytes
    assert plan.entries
    assert all(held_bytes(entry.kernel, entry.axes) <= TWO_GIB for entry in plan.entries)


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
    entries = plan_gpu(FULL, probes=(LINEAR_VS_TREE,)).entries
    by_kernel = {
        kernel: [each.axes for each in entries if (each.kernel, each.variant) == (kernel, "fused")]
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
        *("conv_commit", "conv_tree", "copy", "delta_commit", "delta_matrix", "delta_step"),
        *("grouped_gemm", "kv_compact", "linear_block", "linear_greedy", "linear_stochastic", "nop", "read"),
        *("ssd_commit", "ssd_matrix", "ssd_step", "state_scatter"),
        *("tree_attention", "tree_best_first", "tree_greedy", "tree_multi_round", "tree_target_only", "tree_topk"),
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
    assert 3 * 2 * 2 * 10 * 5 == MATRIX_FLOPS_OF["grouped_gemm"]({"tokens": 3, "active": 2, "n": 10, "k": 5})
    matrices: wire.Axes = {"m": 1, "n": 1, "k": 1, "tokens": 1, "active": 1}
    heads: wire.Axes = {"context": 9, "heads": 4, "kv_heads": 2, "head_dim": 16}

    assert 4 * 2 * 3 * (9 + 1) * 4 * 16 == MATRIX_FLOPS_OF["tree_attention"](axes | heads)
    assert 4 * 2 * 3 * 5 * 7 * 11 == MATRIX_FLOPS_OF["delta_matrix"](axes | RECURRENT)
    assert 2 * 2 * 3 * 5 * 11 * 6 == MATRIX_FLOPS_OF["ssd_matrix"](axes | RECURRENT)
    assert {"gemm", "grouped_gemm", "tree_attention", "dense_attention", "delta_matrix", "ssd_matrix"} == {
        kernel for kernel in MATRIX_FLOPS_OF if MATRIX_FLOPS_OF[kernel](axes | RECURRENT | matrices | heads)
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
        (
            "kv_compact",
            {"batch": 2, "accepted": 3, "nodes": 8, "layers": 5, "kv_heads": 4, "head_dim": 16, "dtype": "bf16"},
            2 * 6 * 10 * 128 + 6 * 8 + 8 + 10 * 8,
        ),
        ("tree_best_first", {"batch": 2, "nodes": 33, "depth": 4, "ranks": 8}, 66 * (4 + 16 + 8)),
        ("tree_topk", {"batch": 2, "nodes": 33, "steps": 3, "topk": 4}, 2 * 4 * (4 + 2 * 16) + 66 * (12 + 8)),
        ("gemm_fp8", {"m": 2, "n": 3, "k": 5}, 10 + 15 + 2 * 6),
        (
            "grouped_gemm",
            {"tokens": 7, "experts": 9, "active": 2, "n": 3, "k": 5, "part": "up", "routing": "same"},
            2 * (7 * 5 + 2 * 15 + 14 * 3) + 4 * 14,
        ),
        ("delta_matrix", RECURRENT, 2 * (DELTA_STATE + 3 * (DELTA_TOKEN + 5 * 11 * 2 + 12))),
        ("delta_step", RECURRENT, 2 * (4 * DELTA_STATE + 3 * (DELTA_TOKEN + 5 * 11 * 2 + 4))),
        ("delta_step", RECURRENT | {"keep": "last"}, 2 * (2 * DELTA_STATE + 3 * (DELTA_TOKEN + 5 * 11 * 2 + 4))),
        ("delta_step", RECURRENT | {"keep": "none"}, 2 * (DELTA_STATE + 3 * (DELTA_TOKEN + 5 * 11 * 2 + 4))),
        ("delta_commit", RECURRENT, 2 * (2 * DELTA_STATE + 2 * (DELTA_TOKEN - 3 * 7 * 2) + 4 * 3)),
        ("state_scatter", RECURRENT, 2 * (2 * DELTA_STATE + 4 * 3)),
        ("ssd_matrix", RECURRENT, 2 * (SSD_STATE + 3 * (SSD_TOKEN + 5 * 11 * 2 + 12))),
        ("ssd_step", RECURRENT, 2 * (4 * SSD_STATE + 3 * (SSD_TOKEN + 5 * 11 * 2 + 4))),
        ("ssd_commit", RECURRENT, 2 * (2 * SSD_STATE + 2 * (SSD_TOKEN - 2 * 6 * 2) + 4 * 3)),
        ("conv_tree", RECURRENT, 2 * (3 * (2 * 9 * 2 + 4) + 3 * 9 * 2) + 9 * 4 * 2),
        ("conv_commit", RECURRENT, 2 * (2 * 3 * 9 * 2 + 4 * 3)),
    ],
)
def test_bytes_are_counted_once_each(kernel: str, axes: wire.Axes, expected: int) -> None:
    assert expected == BYTES_OF[kernel](axes)


@pytest.mark.parametrize("name", presets())
@pytest.mark.parametrize("tp", [1, 2])
def test_weights_of_a_model_are_timed_at_many_numbers_of_tokens(name: str, tp: int) -> None:
    model = model_of(name)
    entries = plan_gpu(FULL, model=model, tp=tp).entries
    dense = {(each.axes["n"], each.axes["k"], each.axes["m"]) for each in entries if each.probe == "weights"}
    layer = [each for each in model.weights(tp) if not each.experts and each.name != "lm_head"]
    largest = max(layer, key=lambda each: each.outputs * each.inputs)
    mixed = {(each.axes["n"], each.axes["k"]) for each in entries if each.probe == "weights-of-experts"}

    assert {
        (each.outputs, each.inputs, tokens) for each in model.weights(tp) if not each.experts for tokens in LESS_TOKENS
    } <= dense
    assert set(TOKENS) == {m for n, k, m in dense if (n, k) == (largest.outputs, largest.inputs)}
    assert {(each.outputs, each.inputs) for each in model.weights(tp) if each.experts} == mixed


def test_quick_weights_of_a_model_make_a_curve_of_its_largest_layer() -> None:
    quick = [each.axes for each in plan_gpu(QUICK, model=model_of("Qwen3-8B")).entries if each.probe == "weights"]

    assert [("gate_up", tokens) for tokens in FEW_TOKENS] == [(axes["weight"], axes["m"]) for axes in quick]


def test_without_a_model_the_weights_of_all_presets_are_timed_equal_ones_once() -> None:
    timed = [each.axes for each in plan_gpu(FULL).entries if each.probe == "weights"]
    shapes = {(axes["n"], axes["k"], axes["m"]) for axes in timed}
    names = {name for axes in timed for name in str(axes["weight"]).split(", ")}

    assert len(timed) == len(shapes)
    assert {
        f"{each.name} of {name}" for name in presets() for each in model_of(name).weights() if not each.experts
    } == names


def test_layers_and_heads_of_a_model_reach_its_compaction() -> None:
    cases = [each.axes for each in plan_gpu(FULL, model=model_of("Qwen3.6-27B")).entries if each.kernel == "kv_compact"]

    assert {(16, 4, 256)} == {(axes["layers"], axes["kv_heads"], axes["head_dim"]) for axes in cases}


@pytest.mark.parametrize(
    ("routing", "tokens", "least", "most"),
    [
        ("same", 64, 8, 8),
        ("uniform", 1, 8, 8),
        ("uniform", 64, 120, 128),
        ("skewed", 64, 40, 119),
    ],
)
def test_experts_that_are_asked_hang_on_the_routing(routing: str, tokens: int, least: int, most: int) -> None:
    axes: wire.Axes = {"tokens": tokens, "experts": 128, "active": 8, "routing": routing}

    assert least <= grouped_spec.distinct_of(axes) <= most
    assert all(8 == len(set(chosen)) for chosen in grouped_spec.routing_of(axes))


def test_an_input_set_holds_all_experts_and_a_case_moves_those_that_are_asked() -> None:
    axes: wire.Axes = {"tokens": 2, "experts": 9, "active": 2, "n": 3, "k": 5, "part": "up", "routing": "same"}

    assert 2 * 7 * 15 == held_bytes("grouped_gemm", axes) - BYTES_OF["grouped_gemm"](axes)


def test_every_probe_belongs_to_the_floors_or_to_one_group() -> None:
    grouped = [probe.name for group in GROUPS.values() for probe in group]

    assert len(set(grouped)) == len(grouped)
    assert {probe.name for probe in PROBES} == {*grouped, *(probe.name for probe in FLOORS)}


def test_one_group_can_be_measured_alone() -> None:
    plan = plan_gpu(FULL, probes=(*FLOORS, *GROUPS["acceptance"]))

    assert {"floors", *(probe.name for probe in GROUPS["acceptance"])} == {entry.probe for entry in plan.entries}
    assert 7 == plan.bursts


def test_an_engines_library_is_called_only_where_one_is_named() -> None:
    without, named = plan_gpu(FULL), plan_gpu(FULL, library="/opt/lib.so")
    variants = [entry.variant for entry in named.entries if entry.kernel == "tree_attention"]

    assert not {entry.variant for entry in without.entries} & OF_ENGINES
    assert set(variants) >= OF_ENGINES
    assert ("", "/opt/lib.so") == (without.library, named.library)


@pytest.mark.parametrize(("name", "tp", "heads"), [("Qwen3.6-27B", 1, (24, 4, 256)), ("Llama-3.1-8B", 4, (8, 2, 128))])
def test_attention_has_the_heads_of_the_model_that_one_gpu_holds(name: str, tp: int, heads: tuple[int, ...]) -> None:
    entries = plan_gpu(FULL, model=model_of(name), tp=tp).entries
    found = {
        tuple(entry.axes[axis] for axis in ("heads", "kv_heads", "head_dim"))
        for entry in entries
        if entry.kernel.endswith("_attention")
    }

    assert {heads} == found


def test_recurrent_layers_are_timed_for_models_that_have_them() -> None:
    hybrid = plan_gpu(FULL, model=model_of("Qwen3.6-27B"), tp=2).entries
    deltas = {
        (each.axes["linear_key_heads"], each.axes["linear_value_heads"])
        for each in hybrid
        if each.kernel == "delta_matrix"
    }
    kernels = {each.kernel for each in plan_gpu(FULL, model=model_of("Qwen3-8B")).entries}

    assert {(8, 24)} == deltas
    assert {5120} == {each.axes["channels"] for each in hybrid if each.kernel == "conv_tree"}
    assert not {each.kernel for each in hybrid} & {"ssd_matrix", "ssd_step", "ssd_commit"}
    assert not kernels & {"delta_matrix", "delta_step", "state_scatter", "ssd_matrix", "conv_tree", "conv_commit"}


def test_states_of_both_types_and_every_way_to_keep_them_are_timed() -> None:
    entries = plan_gpu(FULL).entries

    for kernel in ("delta_matrix", "delta_step", "ssd_matrix", "ssd_step"):
        assert {"fp32", "bf16"} == {each.axes["state"] for each in entries if each.kernel == kernel}
    assert {"none", "last", "every"} == {
        each.axes.get("keep", "every") for each in entries if each.kernel == "delta_step"
    }
    assert {8, 9, 64} == {each.axes["nodes"] for each in entries if each.kernel == "delta_step"}


def test_an_input_set_of_a_scatter_holds_the_states_of_all_nodes() -> None:
    assert 2 * 4 * DELTA_STATE == held_bytes("state_scatter", RECURRENT)
    assert 2 * (2 * DELTA_STATE + 3 * DELTA_TOKEN) == held_bytes("delta_commit", RECURRENT)
    assert 2 * (2 * SSD_STATE + 3 * SSD_TOKEN) == held_bytes("ssd_commit", RECURRENT)
    assert (2 * (3 + 6) + 4) * 9 * 2 == held_bytes("conv_commit", RECURRENT)
