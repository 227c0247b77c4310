"""Triton pieces for what a rejected draft leaves: max(keep * p - less * q, 0), from logits of target and drafter.

Subtracting q from a normalised p again and again never needs more than the two factors: with C the sum of what is left
after some rounds, max(max(p - a q, 0) / C - q, 0) is max(p - (a + C) q, 0) / C.
"""

import triton
import triton.language as tl

from .row_mass import logits_at, pick


@triton.jit
def left_of(p, q, scale, p_peak, p_total, q_peak, q_total, keep, less):
    """Weights [R, X] of what is left, from logits [R, X] of target and drafter; zero where both are -inf."""
    p = tl.exp2(p.to(tl.float32) * scale[:, None] - p_peak[:, None]) * (keep / p_total)[:, None]
    q = tl.exp2(q.to(tl.float32) * scale[:, None] - q_peak[:, None]) * (less / q_total)[:, None]
    return tl.maximum(p - q, 0.0)


@triton.jit
def left_in_blocks(
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
    blocks,
    BLOCK: tl.constexpr,
    BLOCKS: tl.constexpr,
):
    """Sums [R, BLOCKS] of what is left in each block of rows: one pass over both.

    A block is asked for before the one ahead of it is looked at: one program waits for nothing but these.
    """
    lane = tl.arange(0, BLOCKS)[None, :]
    index = tl.arange(0, BLOCK)[None, :]
    sums = tl.zeros([real.shape[0], BLOCKS], tl.float32)
    p = logits_at(p_ptr, index, real[:, None] & (index < vocab), stride_p)
    q = logits_at(q_ptr, index, real[:, None] & (index < vocab), stride_q)
    for block in range(blocks):
        index += BLOCK
        mask = real[:, None] & (index < vocab)
        p_next = logits_at(p_ptr, index, mask, stride_p)
        q_next = logits_at(q_ptr, index, mask, stride_q)
        weight = left_of(p, q, scale, p_peak, p_total, q_peak, q_total, keep, less)
        sums = tl.where(lane == block, tl.sum(weight, axis=1)[:, None], sums)
        p = p_next
        q = q_next
    return sums


@triton.jit
def draw_left(
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
    otherwise,
    vocab,
    BLOCK: tl.constexpr,
    BLOCKS: tl.constexpr,
):
    """Draw a token [R] from what is left, whose sums [R, BLOCKS] are known; `otherwise` [R] where nothing is."""
    block, before = pick(sums, coin * tl.sum(sums, axis=1), BLOCKS)
    point = coin * tl.sum(sums, axis=1) - before
    index = tl.maximum(block, 0)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    mask = (real & (block >= 0))[:, None] & (index < vocab)
    p = logits_at(p_ptr, index, mask, stride_p)
    q = logits_at(q_ptr, index, mask, stride_q)
    weight = left_of(p, q, scale, p_peak, p_total, q_peak, q_total, keep, less)
    chosen, _ = pick(weight, point, BLOCK)
    return tl.where(chosen >= 0, (block * BLOCK + chosen).to(tl.int64), otherwise)
