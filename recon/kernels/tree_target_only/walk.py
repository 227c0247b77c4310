"""Triton pieces of target-only acceptance: which child a coin accepts, and the draw where it accepts none."""

import triton
import triton.language as tl

from ..row_mass import at_node, chance_of, next_of, pick, scaled


@triton.jit
def children_of(parent, here, NODES: tl.constexpr):
    """Which nodes [R, NODES] are children of a node [R]; of -1 there are none."""
    node = tl.arange(0, NODES)[None, :]
    return (parent == here[:, None]) & (parent >= 0) & (parent < node)


@triton.jit
def accept_child(row_ptr, stride_v, scale, peak, total, token, children, coin, NODES: tl.constexpr):
    """The child [R] at which the running sum of the children's chances exceeds the coin; -1 where none does."""
    node = tl.arange(0, NODES)[None, :]
    chance = chance_of(row_ptr, token, children, stride_v, scale, peak, total)
    taken = (chance > 0.0) & (coin[:, None] < tl.cumsum(chance, axis=1))
    child = tl.min(tl.where(taken, node, NODES), axis=1)
    return tl.where(child < NODES, child, -1)


@triton.jit
def draw_without(
    row_ptr,
    real,
    stride_v,
    scale,
    peak,
    mass,
    token,
    tried,
    coin,
    vocab,
    NODES: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCKS: tl.constexpr,
):
    """Draw a token [R] from rows without what was tried; `mass` [R, BLOCKS] is of the whole rows, against the peak.

    Where rounding leaves nothing of a row, the token tried last: its chance was one.
    """
    lane = tl.arange(0, BLOCKS)[None, :]
    value = tl.exp2(scaled(row_ptr, token, tried, stride_v, scale) - peak[:, None])  # [R, NODES]
    node = next_of(tried, tl.full(real.shape, -1, tl.int32), NODES)
    while tl.min(node, axis=0) < NODES:
        gone = tl.where(
            lane == (at_node(token, node, NODES) // BLOCK)[:, None], at_node(value, node, NODES)[:, None], 0.0
        )
        mass = tl.maximum(mass - gone, 0.0)
        node = next_of(tried, node, NODES)
    block, before = pick(mass, coin * tl.sum(mass, axis=1), BLOCKS)
    point = coin * tl.sum(mass, axis=1) - before
    index = tl.maximum(block, 0)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :]
    weight = tl.exp2(scaled(row_ptr, index, real[:, None] & (index < vocab), stride_v, scale) - peak[:, None])
    node = next_of(tried, tl.full(real.shape, -1, tl.int32), NODES)
    final = tl.zeros(real.shape, tl.int64)
    while tl.min(node, axis=0) < NODES:
        here = node < NODES
        final = tl.where(here, at_node(token, node, NODES), final)
        weight = tl.where((index == final[:, None]) & here[:, None], 0.0, weight)
        node = next_of(tried, node, NODES)
    chosen, _ = pick(weight, point, BLOCK)
    return tl.where(chosen >= 0, (tl.maximum(block, 0) * BLOCK + chosen).to(tl.int64), final)


@triton.jit
def finish(path_ptr, emitted_ptr, accepted_ptr, request, real, nodes, steps, bonus, NODES: tl.constexpr):
    """Write the last token, the count, and what is unused."""
    node = tl.arange(0, NODES)[None, :]
    place = request.to(tl.int64)[:, None] * nodes + node
    unused = real[:, None] & (node > steps[:, None]) & (node < nodes)
    tl.store(path_ptr + place, -1, mask=unused)
    tl.store(emitted_ptr + place, -1, mask=unused)
    tl.store(emitted_ptr + request.to(tl.int64) * nodes + steps, bonus, mask=real)
    tl.store(accepted_ptr + request, steps, mask=real)
