"""Only the rows that are visited: one launch for each level of the trees, and one for the last tokens.

Each launch begins by deciding the level before from the masses that the launch before left; every program of a request
comes to the same answer, and the first of them writes it down. Masses of a level lie in one of two halves in turn, so
that no program overwrites what a slower one still reads, and those of a request's last level stay.
"""

import triton
import triton.language as tl

from ..masses import WARPS, blocks_of
from ..op import Work
from ..row_mass import at_node, mass_of_block, row_of, scale_of
from ..slices import node_lanes
from ..wire import Axes
from .walk import accept_child, children_of, draw_without, finish


@triton.jit(do_not_specialize=["level", "batch", "nodes", "blocks", "each", "splits"])
def target_only_level(
    logits_ptr,
    token_ptr,
    parent_ptr,
    coin_ptr,
    temperature_ptr,
    here_ptr,
    tops_ptr,
    masses_ptr,
    path_ptr,
    emitted_ptr,
    level,
    batch,
    nodes,
    vocab,
    blocks,
    each,
    splits,
    stride_b,
    stride_n,
    stride_v,
    REQUESTS: tl.constexpr,
    NODES: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCKS: tl.constexpr,
):
    """Decide the level before, then the masses of `each` blocks of this level's rows.

    Grid (ceil(batch / REQUESTS) * splits,).
    """
    program = tl.program_id(0)
    group = program // splits
    split = program - group * splits
    request = group * REQUESTS + tl.arange(0, REQUESTS)
    real = request < batch
    base = request.to(tl.int64) * nodes
    scale = scale_of(temperature_ptr, request, real)
    here = tl.where(real, 0, -1)
    if level > 0:
        here = tl.load(here_ptr + (level - 1) * batch + request, mask=real, other=-1)
        if tl.max(here, axis=0) >= 0:
            going = here >= 0
            node = tl.arange(0, NODES)[None, :]
            known = going[:, None] & (node < nodes)
            token = tl.load(token_ptr + base[:, None] + node, mask=known, other=0)
            parent = tl.load(parent_ptr + base[:, None] + node, mask=known, other=-1)
            row_ptr = logits_ptr + request.to(tl.int64) * stride_b + tl.maximum(here, 0).to(tl.int64) * stride_n
            half = (level - 1) % 2 * batch + request
            peak, total, _ = row_of(tops_ptr, masses_ptr, half, going, blocks, BLOCKS)
            coin = tl.load(coin_ptr + base + here, mask=going, other=1.0)
            children = children_of(parent, here, NODES)
            here = accept_child(row_ptr, stride_v, scale, peak, total, token, children, coin, NODES)
            if split == 0:
                tl.store(emitted_ptr + base + level - 1, at_node(token, here, NODES), mask=here >= 0)
    going = here >= 0
    if split == 0:
        tl.store(here_ptr + level * batch + request, here, mask=real)
        tl.store(path_ptr + base + level, here, mask=going)
    if tl.max(here, axis=0) >= 0:
        row_ptr = logits_ptr + request.to(tl.int64) * stride_b + tl.maximum(here, 0).to(tl.int64) * stride_n
        place = (level % 2 * batch + request).to(tl.int64) * blocks
        for block in range(split * each, tl.minimum(split * each + each, blocks)):
            top, mass = mass_of_block(row_ptr, going, stride_v, scale, block * BLOCK, vocab, BLOCK)
            tl.store(tops_ptr + place + block, top, mask=going)
            tl.store(masses_ptr + place + block, mass, mask=going)


@triton.jit(do_not_specialize=["levels", "batch", "nodes", "blocks"])
def target_only_end(
    logits_ptr,
    token_ptr,
    parent_ptr,
    last_ptr,
    temperature_ptr,
    here_ptr,
    tops_ptr,
    masses_ptr,
    path_ptr,
    emitted_ptr,
    accepted_ptr,
    levels,
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
    """Draw the last token where each walk ended; grid (ceil(batch / REQUESTS),)."""
    request = tl.program_id(0) * REQUESTS + tl.arange(0, REQUESTS)
    real = request < batch
    base = request.to(tl.int64) * nodes
    node = tl.arange(0, NODES)[None, :]
    known = real[:, None] & (node < nodes)
    token = tl.load(token_ptr + base[:, None] + node, mask=known, other=0)
    parent = tl.load(parent_ptr + base[:, None] + node, mask=known, other=-1)
    place = here_ptr + node * batch + request[:, None]
    visited = tl.load(place, mask=real[:, None] & (node < levels), other=-1)  # [R, NODES], one level a lane
    steps = tl.max(tl.where(visited >= 0, node, 0), axis=1)
    here = tl.max(visited, axis=1)  # a child stands behind its parent
    row_ptr = logits_ptr + request.to(tl.int64) * stride_b + tl.maximum(here, 0).to(tl.int64) * stride_n
    scale = scale_of(temperature_ptr, request, real)
    peak, _, mass = row_of(tops_ptr, masses_ptr, steps % 2 * batch + request, real, blocks, BLOCKS)
    coin = tl.load(last_ptr + request, mask=real, other=0.0)
    tried = children_of(parent, here, NODES)
    bonus = draw_without(row_ptr, real, stride_v, scale, peak, mass, token, tried, coin, vocab, NODES, BLOCK, BLOCKS)
    finish(path_ptr, emitted_ptr, accepted_ptr, request, real, nodes, steps, bonus, NODES)


def lazy(work: Work, config: Axes) -> None:
    """Queue a launch for each level, and one for the last tokens."""
    logits, requests, block = work.inputs["logits"], int(config["requests"]), int(config["block"])
    batch, nodes, vocab = logits.shape
    blocks, each = blocks_of(vocab, block), int(config["each"])
    splits, groups = -(-blocks // each), -(-batch // requests)
    inputs, outputs, scratch = work.inputs, work.outputs, work.scratch
    levels = len(scratch["here"]) - 1
    lanes = {"REQUESTS": requests, "NODES": node_lanes(nodes), "BLOCK": block, "BLOCKS": int(config["lanes"])}
    kept = [scratch[name] for name in ("here", "level_tops", "level_masses")]
    for level in range(levels):
        target_only_level[(groups * splits,)](
            *(inputs[name] for name in ("logits", "token", "parent", "coin", "temperature")),
            *kept,
            outputs["path"],
            outputs["emitted"],
            level,
            batch,
            nodes,
            vocab,
            blocks,
            each,
            splits,
            *logits.stride(),
            **lanes,
            num_warps=WARPS,
        )
    target_only_end[(groups,)](
        *(inputs[name] for name in ("logits", "token", "parent", "last", "temperature")),
        *kept,
        *(outputs[name] for name in ("path", "emitted", "accepted")),
        levels,
        batch,
        nodes,
        vocab,
        blocks,
        *logits.stride(),
        **lanes,
        num_warps=WARPS,
    )
