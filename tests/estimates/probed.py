"""Times made by hand in the shapes of a model: every kernel that a round is put together from.

A weight takes its bytes at 4 TB/s up to 128 tokens and then steps up by whole tiles of 64; attention takes its cache at
4 TB/s and a microsecond for each node; the rest is a few microseconds. Intervals are 1 % to either side.
"""

from collections.abc import Iterator
from dataclasses import replace

from recon.records.measurement import Device, Measurement
from recon.records.model import Model
from tests.report.hand import DEVICE, measurement

BATCHES = (1, 4, 16)
CONTEXTS = (1024, 32_768)
NODES = (8, 16, 64)
TOKENS = (1, 8, 16, 64, 128, 192, 256, 512, 1024)
RATE = 4e6
"""Bytes in a microsecond."""


def timed(kernel: str, median: float, device: Device, **case: int | str) -> Measurement:
    made = measurement(kernel, "subject", median, case=dict(case), device=device)
    assert made.spread is not None
    return replace(made, spread=replace(made.spread, low_us=median * 0.99, high_us=median * 1.01))


def weight_us(outputs: int, inputs: int, tokens: int, width: int = 2) -> float:
    """Flat, then stairs."""
    read = outputs * inputs * width / RATE
    return read * (1 if tokens <= 128 else -(-tokens // 64) / 2)


def records(model: Model, tp: int = 1, device: Device = DEVICE, slow: float = 1.0) -> list[Measurement]:
    """All of them; a tree's attention takes `slow` times as long as a chain's."""
    axes = model.axes(tp)
    return [
        *_floors(device),
        *_weights(model, tp, device),
        *_attention(axes, device, slow),
        *_acceptance(model, device),
        *_state(axes, model, device),
    ]


def _floors(device: Device) -> Iterator[Measurement]:
    yield timed("nop.triton", 0.5, device)
    yield replace(timed("read.triton", 250.0, device, bytes=1_000_000_000), bytes_moved=1_000_000_000)


def _weights(model: Model, tp: int, device: Device) -> Iterator[Measurement]:
    for each in model.weights(tp):
        for tokens in TOKENS:
            us = weight_us(each.outputs, each.inputs, tokens)
            if each.experts:
                part = "up" if each.name == "gate_up" else "down"
                shape = {"experts": each.experts, "active": model.active_experts, "n": each.outputs, "k": each.inputs}
                met = min(each.experts, tokens * model.active_experts)
                yield timed(
                    "grouped_gemm.tiles", us * met, device, tokens=tokens, part=part, routing="uniform", **shape
                )
                continue
            shape = {"n": each.outputs, "k": each.inputs}
            yield timed("gemm.torch", us, device, m=tokens, layout="linear", **shape)
            yield timed("gemm_fp8.torch", us / 2, device, m=tokens, layout="linear", **shape)


def _attention(axes: dict[str, int | float | str], device: Device, slow: float) -> Iterator[Measurement]:
    shape = {name: int(axes[name]) for name in ("heads", "kv_heads", "head_dim")}
    for batch in BATCHES:
        for context in CONTEXTS:
            for nodes in NODES:
                us = batch * (context * shape["kv_heads"] * shape["head_dim"] * 4 / RATE + nodes)
                at = {"batch": batch, "context": context, "nodes": nodes}
                yield timed("tree_attention.chain", us, device, kv="bf16", **at, **shape)
                yield timed("tree_attention.tree", us * slow, device, kv="bf16", **at, **shape)
                yield timed("tree_attention.fa3_chain", us * 0.9, device, kv="bf16", **at, **shape)
                yield timed("tree_attention.fa3_cascade", us * 1.5, device, kv="bf16", **at, **shape)


def _acceptance(model: Model, device: Device) -> Iterator[Measurement]:
    moved: dict[str, int] = {"layers": model.attention_layers, "kv_heads": model.kv_heads, "head_dim": model.head_dim}
    for batch in BATCHES:
        yield timed("kv_compact.rows", 2.0 * batch, device, batch=batch, accepted=4, nodes=16, **moved)
        for nodes in NODES:
            at = {"batch": batch, "nodes": nodes}
            yield timed("linear_greedy.fused", batch * nodes / 4, device, vocab=model.vocab, accepted=3, **at)
            yield timed("tree_greedy.auto", batch * nodes / 4 + 1, device, vocab=model.vocab, accepted=3, **at)
            yield timed("tree_best_first.expand", nodes / 4, device, depth=15, ranks=32, **at)


def _state(axes: dict[str, int | float | str], model: Model, device: Device) -> Iterator[Measurement]:
    if not model.linear_layers:
        return
    mamba = bool(model.mamba_heads)
    matrix, step, walk = (
        ("ssd_matrix.matrix", "ssd_step.step", "ssd_commit.walk")
        if mamba
        else ("delta_matrix.quick", "delta_step.step", "delta_commit.walk")
    )
    names = ("linear_key_heads", "linear_value_heads", "linear_key_dim", "linear_value_dim")
    if mamba:
        names = ("mamba_heads", "mamba_head_dim", "mamba_groups", "mamba_state")
    heads = {name: int(axes[name]) for name in names}
    channels = {name: int(axes[name]) for name in ("channels", "width")}
    for batch in BATCHES:
        yield timed(walk, 8.0, device, batch=batch, nodes=64, state="fp32", accepted=3, **heads)
        yield timed("state_scatter.scatter", 4.0, device, batch=batch, nodes=64, state="fp32", accepted=3, **heads)
        yield timed("conv_commit.copy", 2.0, device, batch=batch, nodes=64, accepted=3, **channels)
        for nodes in NODES:
            at: dict[str, int | str] = {"batch": batch, "nodes": nodes, "shape": "random"}
            yield timed(matrix, 10.0, device, state="fp32", **at, **heads)
            yield timed(step, 2.5 * batch * nodes, device, state="fp32", **at, **heads)
            yield timed("conv_tree.climb", 3.0, device, batch=batch, nodes=nodes, **channels)
