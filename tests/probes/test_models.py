"""Shapes of models: presets and configurations, and what one of several GPUs sees of them."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from recon.errors import NotFound, Unreadable, Usage
from recon.probes.models import PRESETS, model_of, presets
from recon.records.model import Model

DELTA: dict[str, object] = {
    "linear_num_value_heads": 48,
    "linear_num_key_heads": 16,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
}
MAMBA: dict[str, object] = {"mamba_n_heads": 128, "mamba_d_head": 64, "mamba_n_groups": 8, "mamba_d_state": 128}


@pytest.mark.parametrize("name", presets())
def test_every_preset_is_a_model_with_whole_heads(name: str) -> None:
    model = model_of(name)

    assert name == model.name
    assert 0 == model.heads % model.kv_heads
    assert model.attention_layers > 0
    assert model.head_dim in (64, 128, 256)


def test_the_presets_are_those_that_the_pages_name() -> None:
    assert ("Llama-3.1-8B", "Qwen3-30B-A3B", "Qwen3-8B", "Qwen3.6-27B") == presets()


def test_a_hybrid_has_layers_of_both_kinds() -> None:
    model = model_of("Qwen/Qwen3.6-27B")

    assert (16, 48) == (model.attention_layers, model.linear_layers)
    assert (248_320, 24, 4, 256) == (model.vocab, model.heads, model.kv_heads, model.head_dim)
    assert (16, 48) == (model.linear_key_heads, model.linear_value_heads)


def test_heads_are_divided_and_the_vocabulary_is_not() -> None:
    whole, quarter = model_of("Qwen3-8B").axes(), model_of("qwen3-8b").axes(4)

    assert (151_936, 32, 8, 128) == tuple(whole[name] for name in ("vocab", "heads", "kv_heads", "head_dim"))
    assert (151_936, 8, 2, 128) == tuple(quarter[name] for name in ("vocab", "heads", "kv_heads", "head_dim"))


def test_key_heads_that_do_not_suffice_are_held_several_times() -> None:
    assert 1 == model_of("Qwen3-30B-A3B").axes(8)["kv_heads"]


@pytest.mark.parametrize(("name", "tp"), [("Qwen3-8B", 3), ("Qwen3.6-27B", 5), ("Qwen3.6-27B", 6)])
def test_heads_that_cannot_be_divided_are_told(name: str, tp: int) -> None:
    with pytest.raises(Usage, match=f"--tp {tp}"):
        model_of(name).axes(tp)


def test_a_configuration_is_read_by_its_path_or_its_folder(tmp_path: Path) -> None:
    config = json.loads((PRESETS / "Llama-3.1-8B.json").read_text()) | {"num_key_value_heads": None}
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))

    assert model_of(str(folder)) == model_of(str(folder / "config.json"))
    assert ("mine", 32, 128) == (
        model_of(str(folder)).name,
        model_of(str(folder)).kv_heads,
        model_of(str(folder)).head_dim,
    )


def test_kinds_of_layers_may_be_listed(tmp_path: Path) -> None:
    config = json.loads((PRESETS / "Qwen3.6-27B.json").read_text())["text_config"]
    config |= {"num_hidden_layers": 4, "layer_types": ["linear_attention"] * 3 + ["full_attention"]}
    (tmp_path / "config.json").write_text(json.dumps(config))

    assert (1, 3) == (model_of(str(tmp_path)).attention_layers, model_of(str(tmp_path)).linear_layers)


def configured(folder: Path, **changes: object) -> Model:
    """Qwen3-8B, with 36 layers, otherwise than it is."""
    config = json.loads((PRESETS / "Qwen3-8B.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changes}))
    return model_of(str(folder))


MIXED = ["sliding_attention"] * 35 + ["full_attention"]


@pytest.mark.parametrize(
    ("changes", "windowed"),
    [
        ({"layer_types": MIXED, "sliding_window": 128}, 35),
        ({"layer_types": ["full_attention"] * 36, "sliding_window": 128}, 0),
        ({"model_type": "mistral", "sliding_window": 4096}, 36),
        ({"model_type": "mistral", "sliding_window": None}, 0),
        ({"model_type": "gemma2", "sliding_window": 4096}, 18),
        ({"model_type": "gemma3_text", "sliding_window": 1024}, 30),
        ({"model_type": "cohere2", "sliding_window": 4096, "sliding_window_pattern": 4}, 27),
        ({"model_type": "exaone4", "sliding_window": 4096, "sliding_window_pattern": "LLLG"}, 27),
        ({"sliding_window": 4096, "use_sliding_window": False, "max_window_layers": 28}, 0),
        ({"sliding_window": 4096, "use_sliding_window": True, "max_window_layers": 28}, 8),
        ({"sliding_window": 4096}, 0),
    ],
)
def test_layers_that_look_at_a_window_are_counted(tmp_path: Path, changes: dict[str, object], windowed: int) -> None:
    model = configured(tmp_path, **changes)
    window = changes["sliding_window"] if windowed else 0

    assert (36, windowed, window) == (model.attention_layers, model.windowed_layers, model.window)


def test_a_window_hides_what_lies_before_it(tmp_path: Path) -> None:
    model = configured(tmp_path, layer_types=MIXED, sliding_window=128)

    assert ((1, 8192), (35, 128)) == model.spans(8192)
    assert ((1, 100), (35, 100)) == model.spans(100)
    assert ((1, 8192), (35, 28)) == model.spans(8192, 100)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"layer_types": ["weird"] * 36}, "layer_types has 'weird', a kind of layer that is not counted"),
        ({"layer_types": ["full_attention"] * 3}, "layer_types tells the kinds of 3 layers, and there are 36"),
        ({"layer_types": ["full_attention", "linear_attention"] * 18}, "how many heads such layers have"),
        ({"layers_block_type": ["attention", "mamba"] * 18}, "how many heads such layers have"),
        ({"layer_types": MIXED, "sliding_window": None}, "sliding_window does not say of how many"),
        ({"layer_types": ["chunked_attention"] * 36}, "'chunked_attention'"),
        ({"attention_chunk_size": 8192}, "attention_chunk_size says"),
        (
            {"model_type": "new", "sliding_window": 64, "sliding_window_pattern": "LXG"},
            "sliding_window_pattern is 'LXG'",
        ),
        ({"num_key_value_heads": 0}, "num_key_value_heads is 0"),
    ],
)
def test_layers_that_are_not_known_are_refused_by_name(tmp_path: Path, changes: dict[str, object], why: str) -> None:
    with pytest.raises(Unreadable, match=re.escape(why)):
        configured(tmp_path, **changes)


def test_a_kind_of_a_hybrids_layers_that_is_not_known_is_refused(tmp_path: Path) -> None:
    config = json.loads((PRESETS / "Qwen3.6-27B.json").read_text())["text_config"]
    config |= {"num_hidden_layers": 2, "layer_types": ["linear_attention", "conv"]}
    (tmp_path / "config.json").write_text(json.dumps(config))

    with pytest.raises(Unreadable, match="'conv'"):
        model_of(str(tmp_path))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"num_hidden_layers": "4"}', '{"num_hidden_layers": -1}', "[" * 100_000]
)
def test_what_is_no_configuration_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)

    with pytest.raises(Unreadable, match=r"config\.json"):
        model_of(str(tmp_path))


def test_a_name_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(NotFound) as caught:
        model_of("Qwen/Qwen3-7B")

    assert "Did you mean Qwen3-8B?" in caught.value.hint


def test_weights_are_those_of_the_layers_and_the_head() -> None:
    weights = {each.name: (each.outputs, each.inputs, each.experts) for each in model_of("Qwen3.6-27B").weights()}

    assert {
        "qkv": (2 * 24 * 256 + 2 * 4 * 256, 5120, 0),  # queries bring their gates
        "o": (5120, 24 * 256, 0),
        "linear_in": (2 * 16 * 128 + 2 * 48 * 128, 5120, 0),
        "linear_out": (5120, 48 * 128, 0),
        "gate_up": (2 * 17_408, 5120, 0),
        "down": (5120, 17_408, 0),
        "lm_head": (248_320, 5120, 0),
    } == weights


def test_experts_are_told_apart_from_dense_weights() -> None:
    model = model_of("Qwen3-30B-A3B")

    assert 8 == model.active_experts
    assert [("gate_up", 1536, 2048), ("down", 2048, 768)] == [
        (each.name, each.outputs, each.inputs) for each in model.weights() if each.experts
    ]
    assert {0, 128} == {each.experts for each in model.weights()}


def test_several_gpus_share_outputs_on_the_way_in_and_inputs_on_the_way_out() -> None:
    whole = {each.name: each for each in model_of("Qwen3-8B").weights()}
    quarter = {each.name: each for each in model_of("Qwen3-8B").weights(4)}

    for name in ("qkv", "gate_up", "lm_head"):
        assert (whole[name].outputs, whole[name].inputs) == (4 * quarter[name].outputs, quarter[name].inputs)
    for name in ("o", "down"):
        assert (whole[name].outputs, whole[name].inputs) == (quarter[name].outputs, 4 * quarter[name].inputs)


def test_inner_numbers_that_cannot_be_divided_are_told() -> None:
    with pytest.raises(Usage, match="768 inner numbers"):
        replace(model_of("Qwen3-30B-A3B"), heads=512).weights(512)


def test_a_configuration_without_sizes_of_weights_has_none_but_says_the_rest(tmp_path: Path) -> None:
    config = {"num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 64, "vocab_size": 100}
    (tmp_path / "config.json").write_text(json.dumps(config))

    assert () == model_of(str(tmp_path)).weights()
    assert 100 == model_of(str(tmp_path)).vocab


@pytest.mark.parametrize(
    "config",
    [
        {"mamba_num_heads": 128, "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128, "conv_kernel": 4}
        | {"hybrid_override_pattern": "M-M*-M"},
        {"mamba_n_heads": 128, "mamba_d_head": 64, "mamba_n_groups": 8, "mamba_d_state": 128, "mamba_d_conv": 4}
        | {"layer_types": ["mamba", "attention", "mamba", "mamba"]},
    ],
)
def test_mamba_layers_are_read_under_either_name(tmp_path: Path, config: dict[str, object]) -> None:
    whole = {"num_hidden_layers": 4, "num_attention_heads": 32, "vocab_size": 100, "hidden_size": 4096, **config}
    (tmp_path / "config.json").write_text(json.dumps(whole))
    model = model_of(str(tmp_path))
    axes = model.axes(2)

    assert (1, 3) == (model.attention_layers, model.linear_layers)
    assert [64, 64, 4, 128, 4] == [
        axes[name] for name in ("mamba_heads", "mamba_head_dim", "mamba_groups", "mamba_state", "width")
    ]
    assert 64 * 64 + 2 * 4 * 128 == axes["channels"]


def test_channels_of_a_convolution_are_queries_keys_and_values() -> None:
    assert 10_240 == model_of("Qwen3.6-27B").axes()["channels"]
    assert 0 == model_of("Qwen3-8B").axes()["channels"]


PLAIN = {"num_hidden_layers": 4, "num_attention_heads": 32, "vocab_size": 100, "hidden_size": 4096}


def of(tmp_path: Path, **config: object) -> Model:
    (tmp_path / "config.json").write_text(json.dumps(PLAIN | config))
    return model_of(str(tmp_path))


def test_a_value_without_measure_is_refused_in_few_words(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"num_hidden_layers": [1] * 100_000}))

    with pytest.raises(Unreadable) as caught:
        model_of(str(tmp_path))
    assert len(str(tmp_path)) + 200 > len(caught.value.sentence)


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"num_key_value_heads": 5}, "32 query heads cannot be shared out to 5 key heads"),
        ({"head_dim": 0}, "how long a head is"),
        ({"head_dim": None, "hidden_size": None}, "how long a head is"),
        ({"linear_num_value_heads": 12, "linear_num_key_heads": 5}, "12 linear value heads"),
        ({"mamba_n_heads": 12, "mamba_n_groups": 8}, "8 groups"),
        (DELTA | {"linear_num_value_heads": None}, "recurrent layers, and leaves out linear_num_value_heads"),
        (DELTA | {"linear_num_key_heads": 0}, "leaves out linear_num_key_heads"),
        ({"linear_num_value_heads": 12}, "leaves out linear_num_key_heads and linear_key_head_dim and linear_value"),
        (MAMBA | {"mamba_d_head": None}, "recurrent layers, and leaves out mamba_head_dim"),
        ({"mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2}, "leaves out mamba_num_heads and mamba_head_dim"),
        ({"num_experts": 4, "num_experts_per_tok": 8}, "meets 8 of 4 experts"),
        ({"num_experts": 4}, "meets 0 of 4 experts"),
        ({"num_experts": 1 << 30, "num_experts_per_tok": 8}, "experts are more than"),
        ({"kv_lora_rank": 512}, "its attention is latent"),
    ],
)
def test_shapes_that_cannot_be_or_have_no_kernel_are_refused(
    tmp_path: Path, config: dict[str, object], why: str
) -> None:
    with pytest.raises(Unreadable, match=why):
        of(tmp_path, **config)


@pytest.mark.parametrize(
    "config",
    [
        DELTA | {"linear_num_value_heads": 12, "linear_num_key_heads": 6},
        MAMBA | {"mamba_n_heads": 12, "mamba_n_groups": 6},
    ],
)
def test_keys_that_several_gpus_can_neither_share_nor_repeat_are_told(
    tmp_path: Path, config: dict[str, object]
) -> None:
    with pytest.raises(Usage, match="--tp 4 does not fit the 6"):
        of(tmp_path, **config).axes(4)


def test_layers_of_mamba_have_weights_on_the_way_in_and_out(tmp_path: Path) -> None:
    """Gates and features, what the state reads and writes, and a step for each head."""
    weights = {each.name: (each.outputs, each.inputs) for each in of(tmp_path, **MAMBA).weights(2)}

    assert (2 * 64 * 64 + 2 * 4 * 128 + 64, 4096) == weights["linear_in"]
    assert (4096, 64 * 64) == weights["linear_out"]


def test_feed_forward_parts_without_gates_go_up_once(tmp_path: Path) -> None:
    config = MAMBA | {"intermediate_size": 700, "mlp_hidden_act": "relu2"}
    model = of(tmp_path, num_hidden_layers=6, hybrid_override_pattern="M-ME*E", **config)

    assert 3 == model.mlp_layers
    assert [700] == [each.outputs for each in model.weights() if each.name == "gate_up"]
    assert [1400] == [each.outputs for each in replace(model, mlp_gated=True).weights() if each.name == "gate_up"]


def test_layers_with_attention_may_be_told_by_number(tmp_path: Path) -> None:
    model = of(tmp_path, num_hidden_layers=32, attn_layer_indices=[9, 18, 27], **MAMBA)

    assert (3, 29) == (model.attention_layers, model.linear_layers)
