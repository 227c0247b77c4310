"""A round is the sum of its measured parts, each as often as the model has it, with the kernels that were asked for."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from recon.estimates.rounds import Kernels, Setting, round_of
from recon.estimates.times import Missing, Times
from recon.probes.models import model_of
from recon.records.cost import Ground, Quantity, Round
from recon.records.model import Model
from tests.estimates.probed import RATE, records, timed, weight_us
from tests.report.hand import DEVICE

HYBRID, DENSE, MIXTURE = (model_of(name) for name in ("Qwen3.6-27B", "Qwen3-8B", "Qwen3-30B-A3B"))


def setting(batch: int = 1, context: int = 32_768, **other: object) -> Setting:
    made = Setting(HYBRID, 1, "bf16", "bf16", "fp32", sampled=False, batch=batch, context=context)
    return replace(made, **other)  # type: ignore[arg-type]


def told(found: Round | Missing) -> Round:
    assert isinstance(found, Round), found
    return found


def parts(found: Round | Missing) -> dict[str, Quantity]:
    return {part.name: part.us for part in told(found).parts}


def test_each_weight_counts_as_often_as_the_model_has_it() -> None:
    """8 tokens: every weight of the 8B is read once, 36 times those of a layer."""
    found = parts(round_of(Times(records(DENSE)), setting(model=DENSE), 7, "chain", Kernels.BUNDLED))
    layer = 2 * 12288 * 4096 + 4096 * 12288 + 6144 * 4096 + 4096 * 4096

    assert (36 * layer + 151_936 * 4096) * 2 / RATE == pytest.approx(found["weights"].value)


def test_a_step_in_a_weight_is_a_step_in_the_round() -> None:
    """16 requests: 8 tokens each are 128, and 16 are 256, twice as dear here."""
    times = Times(records(DENSE))
    few, many = (
        parts(round_of(times, setting(16, model=DENSE), drafts, "chain", Kernels.BUNDLED))["weights"]
        for drafts in (7, 15)
    )

    assert (Ground.MEASURED, Ground.MEASURED) == (few.ground, many.ground)
    assert 2.0 == pytest.approx(many.value / few.value)


def test_a_tree_has_parts_that_a_chain_has_not() -> None:
    times = Times(records(HYBRID))
    chain, tree = (set(parts(round_of(times, setting(), 7, shape, Kernels.BUNDLED))) for shape in ("chain", "tree"))

    assert {"weights", "attention", "recurrent state", "acceptance"} == chain
    assert {"compaction", "building"} == tree - chain


def test_a_round_is_the_sum_of_its_parts() -> None:
    made = told(round_of(Times(records(HYBRID)), setting(), 15, "tree", Kernels.BUNDLED))

    assert made.us.value == pytest.approx(sum(part.us.value for part in made.parts))
    assert made.us.low < made.us.value < made.us.high


def test_a_dense_model_has_no_recurrent_part() -> None:
    found = parts(round_of(Times(records(DENSE)), setting(model=DENSE), 7, "tree", Kernels.BUNDLED))

    assert "recurrent state" not in found


@pytest.mark.parametrize("shape", ["chain", "tree"])
def test_layers_with_a_window_attend_as_over_a_context_of_its_length(shape: str) -> None:
    """9 layers of 36 see all 32,768 tokens, 27 the last 1,024 of them."""
    times = Times(records(DENSE))

    def attention(model: Model, context: int = 32_768) -> float:
        return parts(round_of(times, setting(model=model, context=context), 7, shape, Kernels.BUNDLED))[
            "attention"
        ].value

    windowed = replace(DENSE, windowed_layers=27, window=1024)

    assert attention(DENSE) / 4 + attention(DENSE, 1024) * 3 / 4 == pytest.approx(attention(windowed))
    assert attention(DENSE, 1024) == attention(windowed, 1024)


def test_a_window_that_nothing_bounds_is_missing_and_not_taken_for_the_whole_context() -> None:
    times = Times(each for each in records(DENSE) if each.kernel not in {"nop.triton", "read.triton"})
    windowed = replace(DENSE, windowed_layers=27, window=128)
    found = round_of(times, setting(model=windowed), 7, "chain", Kernels.BUNDLED)

    assert isinstance(found, Missing)
    assert "context 128" in found.why


def test_experts_are_counted_by_the_tokens_that_meet_them() -> None:
    """One token meets 8 of 128 experts, 16 meet all of them: a mixture has its knee where a dense model has none."""
    times = Times(records(MIXTURE))
    one, many = (
        parts(round_of(times, setting(model=MIXTURE), drafts, "chain", Kernels.BUNDLED))["weights"].value
        for drafts in (7, 15)
    )
    up = sum(weight_us(each.outputs, each.inputs, 1) for each in MIXTURE.weights() if each.experts)

    assert 48 * up * (128 - 64) == pytest.approx(many - one)


def test_in_fp8_the_head_stays_as_it_is() -> None:
    times = Times(records(DENSE))
    whole, half = (
        parts(round_of(times, setting(model=DENSE, weights=kind), 7, "chain", Kernels.BUNDLED))["weights"].value
        for kind in ("bf16", "fp8")
    )
    head = weight_us(151_936, 4096, 8)

    assert (whole - head) / 2 + head == pytest.approx(half)


def test_weights_of_one_of_several_gpus_are_asked_for_in_their_shapes() -> None:
    times = Times(records(DENSE, tp=2))

    assert isinstance(round_of(times, setting(model=DENSE), 7, "chain", Kernels.BUNDLED), Missing)
    assert isinstance(round_of(times, setting(model=DENSE, tp=2), 7, "chain", Kernels.BUNDLED), Round)


def test_with_the_engines_kernels_a_tree_takes_the_engines_attention() -> None:
    times = Times(records(HYBRID))
    ours, theirs = (parts(round_of(times, setting(), 7, "tree", each))["attention"] for each in Kernels)

    assert "fa3_cascade" in theirs.source
    assert 1.5 == pytest.approx(theirs.value / ours.value)


def test_a_chain_is_given_the_better_kernels_whosever_they_are() -> None:
    """A tree must not win because its opponent was slowed down."""
    times = Times(records(HYBRID))
    chain, theirs = (parts(round_of(times, setting(), 7, "chain", each))["attention"] for each in Kernels)

    assert chain == theirs
    assert "fa3_chain" in chain.source


def test_an_acceptance_measured_from_the_engine_is_taken() -> None:
    case = {"batch": 1, "nodes": 8, "vocab": HYBRID.vocab, "accepted": 3}
    times = Times([*records(HYBRID), timed("linear_greedy.engine.vllm.reject", 124.0, DEVICE, **case)])
    found = parts(round_of(times, setting(), 7, "chain", Kernels.ENGINE))["acceptance"]

    assert (124.0, True) == (found.value, "engine.vllm.reject" in found.source)


def test_an_acceptance_of_another_engine_is_not_taken_for_this_one() -> None:
    case = {"batch": 1, "nodes": 8, "vocab": HYBRID.vocab, "accepted": 3}
    times = Times([*records(HYBRID), timed("linear_greedy.engine.vllm/a.py:reject", 124.0, DEVICE, **case)])
    mine, others = (
        parts(round_of(times, setting(engine=name), 7, "chain", Kernels.ENGINE))["acceptance"].value
        for name in ("vllm", "sglang")
    )

    assert (124.0, 2.0) == (mine, others)


def test_where_none_of_the_engine_was_timed_that_is_said() -> None:
    found = parts(round_of(Times(records(HYBRID)), setting(), 7, "chain", Kernels.ENGINE))["acceptance"]

    assert found.source.endswith("none of the engine was timed")


def test_engines_walk_states_node_by_node() -> None:
    times = Times(records(HYBRID))
    ours, theirs = (parts(round_of(times, setting(), 63, "tree", each))["recurrent state"].value for each in Kernels)

    assert 48 * (10 + 3 + 8 + 2) == pytest.approx(ours)
    assert 48 * (2.5 * 64 + 3 + 4 + 2) == pytest.approx(theirs)


MAMBA = {
    "num_hidden_layers": 40,
    "attn_layer_indices": [5, 15, 25, 35],
    "vocab_size": 49_160,
    "hidden_size": 4096,
    "intermediate_size": 12_800,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "mamba_n_heads": 128,
    "mamba_d_head": 64,
    "mamba_n_groups": 1,
    "mamba_d_state": 128,
    "mamba_d_conv": 4,
}


def model(tmp_path: Path, **more: object) -> Model:
    (tmp_path / "config.json").write_text(json.dumps({**MAMBA, **more}))
    return model_of(str(tmp_path))


def test_layers_of_mamba_have_kernels_and_weights_of_their_own(tmp_path: Path) -> None:
    mamba = model(tmp_path)
    times = Times(records(mamba))
    ours, theirs = (
        parts(round_of(times, setting(model=mamba), 63, "tree", each))["recurrent state"].value for each in Kernels
    )

    assert 36 * (10 + 3 + 8 + 2) == pytest.approx(ours)
    assert 36 * (2.5 * 64 + 3 + 8 + 2) == pytest.approx(theirs)


def test_feed_forward_layers_of_their_own_count_as_often_as_they_are_there(tmp_path: Path) -> None:
    """A pattern of letters: 20 of Mamba, 10 of attention, 10 that go up once, without gates."""
    other = model(tmp_path, hybrid_override_pattern="M-M*" * 10, attn_layer_indices=None, mlp_hidden_act="relu2")
    found = parts(round_of(Times(records(other)), setting(model=other), 7, "chain", Kernels.BUNDLED))
    counts = {"qkv": 10, "o": 10, "linear_in": 20, "linear_out": 20, "gate_up": 10, "down": 10, "lm_head": 1}
    by_hand = sum(counts[each.name] * weight_us(each.outputs, each.inputs, 8) for each in other.weights())

    assert by_hand == pytest.approx(found["weights"].value)
    assert 12_800 == next(each.outputs for each in other.weights() if each.name == "gate_up")


def test_a_configuration_without_sizes_of_weights_is_said_to_be_one(tmp_path: Path) -> None:
    other = model(tmp_path, intermediate_size=0)
    found = round_of(Times(records(other)), setting(model=other), 7, "chain", Kernels.BUNDLED)

    assert isinstance(found, Missing)
    assert "does not tell the sizes of its weights" in found.why


@pytest.mark.parametrize(
    ("asked", "drafts", "why"),
    [
        ({"batch": 17}, 3, "attention"),
        ({"context": 65_536}, 7, "attention"),
        ({"batch": 16}, 70, "weights"),
        ({"state": "bf16"}, 7, "recurrent state"),
        ({"kv": "fp8"}, 7, "attention"),
    ],
)
def test_what_was_not_measured_is_refused_by_name(asked: dict[str, object], drafts: int, why: str) -> None:
    found = round_of(Times(records(HYBRID)), setting(**asked), drafts, "tree", Kernels.BUNDLED)  # type: ignore[arg-type]

    assert isinstance(found, Missing)
    assert found.why.startswith(why)
