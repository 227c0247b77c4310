"""The Triton claim about the reference: the masses of all rows in one launch, then the walk and the draw in another.

The launch between them is the only thing that waits: no program asks whether another is done.
"""

import torch
import triton
import triton.language as tl

from ..builds import NODES, VOCAB, build
from ..card import Card
from ..compiled import plain
from ..forms import Costs, prefers_lazy
from ..judge import judge
from ..masses import BLOCK, WARPS, block_lanes, blocks_of, configs, lazy_configs
from ..op import Build, Op, Variant, Work
from ..row_mass import at_node, row_of, rows_masses, scale_of
from ..slices import node_lanes
from ..wire import Axes
from . import spec
from .baselines import compiled_walk, eager, softmax_walk
from .inputs import work_of
from .lazy import lazy, target_only_end, target_only_level
from .reference import reference
from .walk import accept_child, children_of, draw_without, finish


@triton.jit(do_not_specialize=["batch", "nodes", "blocks"])
def target_only_walk(
    logits_ptr,
    token_ptr,
    parent_ptr,
    coin_ptr,
    last_ptr,
    temperature_ptr,
    tops_ptr,
    masses_ptr,
    path_ptr,
    emitted_ptr,
    accepted_ptr,
    batch,
    nodes,
    vocab,
    blocks,
    stride_b,
    stride_n,
    stride_v,
    REQUESTS: tl.constexpr,
    NODES: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCKS: tl.constexpr,
):
    """Walk each tree on the masses of all rows; grid (ceil(batch / REQUESTS),)."""
    request = tl.program_id(0) * REQUESTS + tl.arange(0, REQUESTS)
    real = request < batch
    node = tl.arange(0, NODES)[None, :]
    base = request.to(tl.int64) * nodes
    known = real[:, None] & (node < nodes)
    token = tl.load(token_ptr + base[:, None] + node, mask=known, other=0)
    parent = tl.load(parent_ptr + base[:, None] + node, mask=known, other=-1)
    scale = scale_of(temperature_ptr, request, real)
    here = tl.zeros(real.shape, tl.int32)
    steps = tl.zeros(real.shape, tl.int32)
    going = real
    tl.store(path_ptr + base, here, mask=real)
    while tl.max(going.to(tl.int32), axis=0) > 0:
        row_ptr = logits_ptr + request.to(tl.int64) * stride_b + here.to(tl.int64) * stride_n
        peak, total, _ = row_of(tops_ptr, masses_ptr, base + here, going, blocks, BLOCKS)
        coin = tl.load(coin_ptr + base + here, mask=going, other=1.0)
        children = children_of(parent, here, NODES) & going[:, None]
        child = accept_child(row_ptr, stride_v, scale, peak, total, token, children, coin, NODES)
        going = going & (child >= 0)
        tl.store(emitted_ptr + base + steps, at_node(token, child, NODES), mask=going)
        steps += going.to(tl.int32)
        here = tl.where(going, child, here)
        tl.store(path_ptr + base + steps, here, mask=going)
    row_ptr = logits_ptr + request.to(tl.int64) * stride_b + here.to(tl.int64) * stride_n
    peak, total, mass = row_of(tops_ptr, masses_ptr, base + here, real, blocks, BLOCKS)
    tried = children_of(parent, here, NODES)
    coin = tl.load(last_ptr + request, mask=real, other=0.0)
    bonus = draw_without(row_ptr, real, stride_v, scale, peak, mass, token, tried, coin, vocab, NODES, BLOCK, BLOCKS)
    finish(path_ptr, emitted_ptr, accepted_ptr, request, real, nodes, steps, bonus, NODES)


def all_masses(work: Work, config: Axes, logits: str = "logits", prefix: str = "") -> None:
    """Queue the masses of all rows of some logits."""
    rows = work.inputs[logits]
    batch, nodes, vocab = rows.shape
    block, each, group = (int(config[name]) for name in ("block", "each", "requests"))
    blocks = blocks_of(vocab, block)
    splits = -(-blocks // each)
    rows_masses[(-(-batch * nodes // group) * splits,)](
        rows,
        work.inputs["temperature"],
        work.scratch[f"{prefix}tops"],
        work.scratch[f"{prefix}masses"],
        batch * nodes,
        nodes,
        vocab,
        blocks,
        each,
        splits,
        *rows.stride(),
        ROWS=group,
        BLOCK=block,
        num_warps=WARPS,
    )


def fused(work: Work, config: Axes) -> None:
    """Queue the masses of all rows, then the walks."""
    all_masses(work, config)
    walk(work, config, parent=work.inputs["parent"], path=work.outputs["path"])


def walk(work: Work, config: Axes, *, parent: torch.Tensor, path: torch.Tensor) -> None:
    """Queue the walks alone."""
    logits, requests, block = work.inputs["logits"], int(config["requests"]), int(config["block"])
    batch, nodes, vocab = logits.shape
    target_only_walk[(-(-batch // requests),)](
        logits,
        work.inputs["token"],
        parent,
        *(work.inputs[name] for name in ("coin", "last", "temperature")),
        work.scratch["tops"],
        work.scratch["masses"],
        path,
        work.outputs["emitted"],
        work.outputs["accepted"],
        batch,
        nodes,
        vocab,
        blocks_of(vocab, block),
        *logits.stride(),
        REQUESTS=requests,
        NODES=node_lanes(nodes),
        BLOCK=block,
        BLOCKS=int(config["lanes"]),
        num_warps=WARPS,
    )


COSTS = Costs(fused_us=12.3, launch_us=1.2, level_us=4.0, fused_passes=1.45, lazy_passes=1.55)
"""Fitted to times on an H200."""


def form_configs(axes: Axes, card: Card) -> tuple[Axes, ...]:
    """Configurations of the form that the rule prefers."""
    if prefers_lazy(axes, card, COSTS):
        return tuple({**config, "form": "lazy"} for config in lazy_configs(axes, card))
    return tuple({**config, "form": "fused"} for config in configs(axes, card))


def auto(work: Work, config: Axes) -> None:
    """Queue whichever form the rule preferred."""
    (lazy if config["form"] == "lazy" else fused)(work, config)


def compare(work: Work) -> str:
    """First answer that neither the reference gives nor rounding excuses."""
    return judge(work.outputs, work.inputs, reference(**work.inputs))


def note(work: Work) -> str:
    """What the walk of this data is like."""
    accepted = work.outputs["accepted"].float().mean().item()
    return f"accepted drafts per request: {accepted:.2f}"


def builds() -> tuple[Build, ...]:
    """Each launch in the configuration that is chosen for most cases."""
    lanes = {"REQUESTS": 1, "NODES": NODES, "BLOCK": BLOCK, "BLOCKS": block_lanes(VOCAB)}
    return (
        build("fused", rows_masses, WARPS, ROWS=1, BLOCK=BLOCK),
        build("fused", target_only_walk, WARPS, **lanes),
        build("lazy", target_only_level, WARPS, **lanes),
        build("lazy", target_only_end, WARPS, **lanes),
    )


OP = Op(
    work=work_of,
    compare=compare,
    variants={
        "fused": Variant(fused, configs),
        "lazy": Variant(lazy, lazy_configs, spec.visited_bytes_of),
        "auto": Variant(auto, form_configs, spec.visited_bytes_of),
        "softmax_walk": Variant(softmax_walk),
        "compiled_walk": Variant(compiled_walk, checked=plain),
        "eager": Variant(eager),
    },
    bytes_of=spec.bytes_of,
    note=note,
    builds=builds,
)
