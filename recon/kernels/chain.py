"""Triton pieces of chains that are accepted with their drafter: what the row that ended a chain leaves, and its end."""

import triton
import triton.language as tl

from .residual import draw_left, left_of
from .row_mass import at_node, logits_at, row_of, scaled


@triton.jit
def totals_of(tops_ptr, masses_ptr, row, real, blocks, BLOCKS: tl.constexpr):
    """Peak and total [R] of rows, a total of zero taken for one."""
    peak, total, _ = row_of(tops_ptr, masses_ptr, row, real, blocks, BLOCKS)
    return peak, tl.where(total > 0.0, total, 1.0)


@triton.jit
def chance_at(row_ptr, token, real, stride_v, scale, peak, total):
    """Probability [R] of one token [R] in each row."""
    value = scaled(row_ptr, token[:, None], real[:, None], stride_v, scale)
    return tl.sum(tl.exp2(value - peak[:, None]), axis=1) / total


@triton.jit
def store_left(
    left_ptr,
    place,
    first,
    end,
    p_ptr,
    q_ptr,
    real,
    stride_p,
    stride_q,
    scale,
    p_peak,
    p_total,
    q_peak,
    q_total,
    keep,
    less,
    vocab,
    BLOCK: tl.constexpr,
):
    """Store what is left in the blocks first..end of rows [R], whose sums of blocks begin at `place` [R]."""
    index = first * BLOCK + tl.arange(0, BLOCK)[None, :]
    beyond = tl.minimum(end * BLOCK, vocab)
    mask = real[:, None] & (index < beyond)
    p = logits_at(p_ptr, index, mask, stride_p)
    q = logits_at(q_ptr, index, mask, stride_q)
    for block in range(first, end):
        index += BLOCK
        mask = real[:, None] & (index < beyond)
        p_next = logits_at(p_ptr, index, mask, stride_p)
        q_next = logits_at(q_ptr, index, mask, stride_q)
        weight = left_of(p, q, scale, p_peak, p_total, q_peak, q_total, keep, less)
        tl.store(left_ptr + place + block, tl.sum(weight, axis=1), mask=real)
        p = p_next
        q = q_next


@triton.jit
def end_chain(
    token_ptr,
    emitted_ptr,
    accepted_ptr,
    request,
    real,
    nodes,
    steps,
    coin,
    p_ptr,
    q_ptr,
    stride_p,
    stride_q,
    scale,
    p_peak,
    p_total,
    q_peak,
    q_total,
    keep,
    less,
    sums,
    vocab,
    NODES: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCKS: tl.constexpr,
):
    """Draw the token after `steps` [R] accepted drafts from what is left, and write down how the chains ended."""
    base = request.to(tl.int64) * nodes
    node = tl.arange(0, NODES)[None, :]
    known = real[:, None] & (node < nodes)
    token = tl.load(token_ptr + base[:, None] + node, mask=known, other=0)
    bonus = draw_left(
        p_ptr,
        q_ptr,
        real,
        stride_p,
        stride_q,
        scale,
        p_peak,
        p_total,
        q_peak,
        q_total,
        keep,
        less,
        sums,
        coin,
        at_node(token, steps + 1, NODES),
        vocab,
        BLOCK,
        BLOCKS,
    )
    following = tl.load(token_ptr + base[:, None] + node + 1, mask=known & (node + 1 < nodes), other=-1)
    emitted = tl.where(node < steps[:, None], following, -1)
    emitted = tl.where(node == steps[:, None], bonus[:, None], emitted)
    tl.store(emitted_ptr + base[:, None] + node, emitted, mask=known)
    tl.store(accepted_ptr + request, steps, mask=real)
