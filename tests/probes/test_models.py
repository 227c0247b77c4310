"""Shapes of models: presets and configurations, and what one of several GPUs sees of them."""

import json
from pathlib import Path

import pytest

from recon.errors import NotFound, Unreadable, Usage
from recon.probes.models import PRESETS, model_of, presets


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
