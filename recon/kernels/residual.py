"""Triton pieces for what a rejected draft leaves: max(keep * p - less * q, 0), from logits of target and drafter.

Subtracting q from a normalised p again and again never needs more than the two factors: with C the sum of what is left
after some rounds, max(max(p - a q, 0) / C - q, 0) is max(p - (a + C) q, 0) / C.
"""

import triton
import triton.language as tl

from .row_mass import pick, scaled


@triton.jit
def left_at(p_ptr, q_ptr, index, mask, stride_p, stride_q, scale, p_peak, p_total, q_peak, q_total, keep, less):
    """Weights [R, X] of what is left at indexes [R, X] of rows at [R] pointers; zero where the mask is not set."""
    p = tl.exp2(scaled(p_ptr, index, mask, stride_p, scale) - p_peak[:, None]) * (keep / p_total)[:, None]
    q = tl.exp2(scaled(q_ptr, index, mask, stride_q, scale) - q_peak[:, None]) * (less / q_total)[:, None]
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
    """Sums [R, BLOCKS] of what is left in each block of rows: one pass over both."""
    lane = tl.arange(0, BLOCKS)[None, :]
    sums = tl.zeros([real.shape[0], BLOCKS], tl.float32)
    for block in range(blocks):
        index = block * BLOCK + tl.arange(0, BLOCK)[None, :]
        mask = real[:, None] & (index < vocab)
        weight = left_at(
            p_ptr, q_ptr, index, mask, stride_p, stride_q, scale, p_peak, p_total, q_peak, q_total, keep, less
        )
        sums = tl.where(lane == block, tl.sum(weight, axis=1)[:, None], sums)
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
    weight = left_at(p_ptr, q_ptr, index, mask, stride_p, stride_q, scale, p_peak, p_total, q_peak, q_total, keep, less)
    chosen, _ = pick(weight, point, BLOCK)
    return tl.where(chosen >= 0, (block * BLOCK + chosen).to(tl.int64), otherwise)
