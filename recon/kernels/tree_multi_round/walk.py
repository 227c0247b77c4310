"""The walk in rounds, one program a request: what is left after each rejection is summed in a pass over two rows."""

import triton
import triton.language as tl

from ..chain import chance_at
from ..residual import draw_left, left_in_blocks
from ..row_mass import at_node, next_of, row_of, scale_of


@triton.jit(do_not_specialize=["batch", "nodes", "blocks"])
def multi_round_walk(  # noqa: PLR0915  a kernel is one thought
    logits_ptr,
    draft_ptr,
    token_ptr,
    parent_ptr,
    coin_ptr,
    last_ptr,
    temperature_ptr,
    tops_ptr,
    masses_ptr,
    draft_tops_ptr,
    draft_masses_ptr,
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
    draft_b,
    draft_n,
    draft_v,
    REQUESTS: tl.constexpr,
    NODES: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCKS: tl.constexpr,
    APART: tl.constexpr,
):
    """Walk each tree on the masses of all rows; grid (ceil(batch / REQUESTS),)."""
    request = tl.program_id(0) * REQUESTS + tl.arange(0, REQUESTS)
    real = request < batch
    node = tl.arange(0, NODES)[None, :]
    base = request.to(tl.int64) * nodes
    known = real[:, None] & (node < nodes)
    token = tl.load(token_ptr + base[:, None] + node, mask=known, other=0)
    parent = tl.load(parent_ptr + base[:, None] + node, mask=known, other=-1)
    hangs = known & (parent >= 0) & (parent < node)
    scale = scale_of(temperature_ptr, request, real)
    here = tl.zeros(real.shape, tl.int32)
    steps = tl.zeros(real.shape, tl.int32)
    tried = tl.zeros(real.shape, tl.int32)
    less = tl.zeros(real.shape, tl.float32)
    spare = tl.full(real.shape, 1.0, tl.float32)
    sums = tl.zeros([REQUESTS, BLOCKS], tl.float32)
    keep = tl.full(real.shape, 1.0, tl.float32)
    tl.store(path_ptr + base, here, mask=real)
    going = real
    while tl.max(going.to(tl.int32), axis=0) > 0:
        p_ptr = logits_ptr + request.to(tl.int64) * stride_b + here.to(tl.int64) * stride_n
        q_ptr = draft_ptr + request.to(tl.int64) * draft_b + here.to(tl.int64) * draft_n
        p_peak, p_total, mass = row_of(tops_ptr, masses_ptr, base + here, real, blocks, BLOCKS)
        q_peak, q_total, _ = row_of(draft_tops_ptr, draft_masses_ptr, base + here, real, blocks, BLOCKS)
        p_total = tl.where(p_total > 0.0, p_total, 1.0)
        q_total = tl.where(q_total > 0.0, q_total, 1.0)
        sums = tl.where((less == 0.0)[:, None], mass / p_total[:, None], sums)  # nothing was rejected here
        child = next_of(hangs & (parent == here[:, None]), tried, NODES)
        going = going & (child < NODES)
        x = at_node(token, child, NODES)
        p = chance_at(p_ptr, x, going, stride_v, scale, p_peak, p_total)
        q = chance_at(q_ptr, x, going, draft_v, scale, q_peak, q_total)
        left = tl.sum(sums, axis=1)
        coin = tl.load(coin_ptr + base + child, mask=going, other=1.0)
        # coin < p' / q' with p' = max(p - less q, 0) / left and q' = q / spare, free of divisions
        takes = going & (coin * q * left < tl.maximum(p - less * q, 0.0) * spare)
        fails = going & ~takes
        less = tl.where(takes, 0.0, tl.where(fails, less + left / spare, less))
        if APART:
            spare = tl.where(takes, 1.0, tl.where(fails, tl.maximum(spare - q, 1e-30), spare))
        tried = tl.where(going, child, tried)
        if tl.max(fails.to(tl.int32), axis=0) > 0:
            again = left_in_blocks(
                p_ptr,
                q_ptr,
                fails,
                stride_v,
                draft_v,
                scale,
                p_peak,
                p_total,
                q_peak,
                q_total,
                keep,
                less,
                vocab,
                blocks,
                BLOCK,
                BLOCKS,
            )
            sums = tl.where(fails[:, None], again, sums)
        tl.store(emitted_ptr + base + steps, x, mask=takes)
        steps += takes.to(tl.int32)
        here = tl.where(takes, child, here)
        tl.store(path_ptr + base + steps, here, mask=takes)
    p_ptr = logits_ptr + request.to(tl.int64) * stride_b + here.to(tl.int64) * stride_n
    q_ptr = draft_ptr + request.to(tl.int64) * draft_b + here.to(tl.int64) * draft_n
    p_peak, p_total, _ = row_of(tops_ptr, masses_ptr, base + here, real, blocks, BLOCKS)
    q_peak, q_total, _ = row_of(draft_tops_ptr, draft_masses_ptr, base + here, real, blocks, BLOCKS)
    p_total = tl.where(p_total > 0.0, p_total, 1.0)
    q_total = tl.where(q_total > 0.0, q_total, 1.0)
    coin = tl.load(last_ptr + request, mask=real, other=0.0)
    bonus = draw_left(
        p_ptr,
        q_ptr,
        real,
        stride_v,
        draft_v,
        scale,
        p_peak,
        p_total,
        q_peak,
        q_total,
        keep,
        less,
        sums,
        coin,
        at_node(token, tried, NODES),
        vocab,
        BLOCK,
        BLOCKS,
    )
    place = base[:, None] + node
    unused = known & (node > steps[:, None])
    tl.store(path_ptr + place, -1, mask=unused)
    tl.store(emitted_ptr + place, -1, mask=unused)
    tl.store(emitted_ptr + base + steps, bonus, mask=real)
    tl.store(accepted_ptr + request, steps, mask=real)
