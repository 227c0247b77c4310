"""What a node takes of memory, held to figures that others published."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from recon.estimates import memory
from recon.probes.models import model_of
from recon.records.cost import Memory
from recon.records.model import Model

MIB = 1 << 20
GIB = 1 << 30


@pytest.fixture
def large(tmp_path: Path) -> Model:
    """Qwen3.5-397B: 60 layers, of which every fourth has full attention."""
    config = {
        "num_hidden_layers": 60,
        "full_attention_interval": 4,
        "vocab_size": 248_320,
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_key_value_heads": 2,
        "head_dim": 256,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 64,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "num_experts": 512,
        "num_experts_per_tok": 10,
        "moe_intermediate_size": 1024,
        "mamba_ssm_dtype": "float32",
    }
    (tmp_path / "config.json").write_text(json.dumps({"text_config": config}))
    return model_of(str(tmp_path))


def test_a_state_of_the_largest_hybrid_takes_what_its_implementers_published(large: Model) -> None:
    """90 MiB for each token in bf16: RFC 54080 of vLLM."""
    assert 90 * MIB == memory.state_bytes(large, "bf16")
    assert 180 * MIB == memory.state_bytes(large, large.state_dtype)


def test_a_node_of_the_27b_takes_its_state_its_window_and_its_keys() -> None:
    model = model_of("Qwen3.6-27B")

    assert (144 * MIB, 72 * MIB) == tuple(memory.state_bytes(model, state) for state in ("fp32", "bf16"))
    assert 2.8 == pytest.approx(memory.window_bytes(model) / MIB, abs=0.02)
    assert 64 * 1024 == memory.kv_bytes(model, "bf16")
    assert 0.77 == pytest.approx(memory.replay_bytes(model) / MIB, abs=0.01)


def test_gpus_that_share_a_model_share_its_states() -> None:
    model = model_of("Qwen3.6-27B")

    assert 36 * MIB == memory.state_bytes(model, "fp32", tp=4)


def test_a_model_without_recurrent_layers_has_no_state() -> None:
    model = model_of("Qwen3-8B")

    assert (0, 0, 0) == (
        memory.state_bytes(model, "fp32"),
        memory.window_bytes(model),
        memory.replay_bytes(model),
    )


@pytest.mark.parametrize(("name", "billions"), [("Qwen3-8B", 8.2), ("Llama-3.1-8B", 8.0), ("Qwen3-30B-A3B", 30.5)])
def test_weights_add_up_to_what_the_model_is_called(name: str, billions: float) -> None:
    assert billions == pytest.approx(memory.weight_bytes(model_of(name), "bf16") / 2e9, rel=0.02)


def counted(nodes: int, **other: int) -> Memory:
    """On a GPU of 140 GiB, 27B in bf16."""
    options = {"tp": 1, "context": 8192, "nodes": nodes, "chain": 7, "device_bytes": 140 * GIB} | other
    return memory.memory(model_of("Qwen3.6-27B"), state="fp32", kv="bf16", weights="bf16", **options)


def test_a_state_for_each_node_costs_sequences_and_recomputed_ones_hardly_any() -> None:
    """64 nodes take 9.2 GiB of each sequence, a chain of 7 one."""
    made = counted(64)

    assert made.sequences_tree < made.sequences_chain / 4
    assert made.sequences_chain < made.sequences_replayed
    assert 64 * (144 + 2.8125) * MIB == pytest.approx(64 * (made.state_bytes + made.window_bytes))


def test_layers_with_a_window_keep_no_more_than_it() -> None:
    """Half the layers keep 1,024 of 8,192 tokens: about 16/9 of the sequences fit beside the same weights."""
    model = model_of("Qwen3-8B")
    options = {"tp": 1, "context": 8192, "nodes": 7, "chain": 7, "device_bytes": 140 * GIB}
    whole, half = (
        memory.memory(each, state="fp32", kv="bf16", weights="bf16", **options)
        for each in (model, replace(model, windowed_layers=18, window=1024))
    )

    assert 16 / 9 == pytest.approx(half.sequences_chain / whole.sequences_chain, rel=0.02)


def test_a_tree_of_as_many_drafts_takes_no_more_than_the_chain() -> None:
    made = counted(7)

    assert made.sequences_chain == made.sequences_tree


def test_without_the_gpus_memory_nobody_counts_sequences() -> None:
    made = counted(64, device_bytes=0)

    assert (0, 0, 0) == (made.sequences_chain, made.sequences_tree, made.sequences_replayed)


def test_weights_that_do_not_fit_leave_room_for_none() -> None:
    assert 0 == counted(1, device_bytes=24 * GIB).sequences_chain
