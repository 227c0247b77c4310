"""Triton pieces that the stochastic kernels share: the mass of a row of logits, block by block, and draws from it.

A row's softmax is never written down. Of each block of a row two numbers are kept, its highest scaled logit (`top`) and
the sum of 2**(scaled logit - top) (`mass`); a row's normaliser follows from them, and so does the one block that a draw
falls into, which alone is read again. Logits are scaled by log2(e) / temperature.

Requests stand in the first axis, so that the interpreter, which is slow for each program and not for each element, can
take many at once; on a GPU that axis has one element.
"""

import triton
import triton.language as tl


@triton.jit
def logits_at(row_ptr, index, mask, stride_v):
    """Logits [R, X] of rows at [R] pointers, as they are; -inf where the mask is not set."""
    return tl.load(row_ptr[:, None] + index.to(tl.int64) * stride_v, mask=mask, other=float("-inf"))


@triton.jit
def scaled(row_ptr, index, mask, stride_v, scale):
    """Likewise scaled, in float32."""
    return logits_at(row_ptr, index, mask, stride_v).to(tl.float32) * scale[:, None]


@triton.jit
def scale_of(temperature_ptr, request, real):
    """log2(e) / temperature of requests [R]."""
    return 1.4426950408889634 / tl.load(temperature_ptr + request, mask=real, other=1.0)


@triton.jit
def mass_of_block(row_ptr, real, stride_v, scale, start, vocab, BLOCK: tl.constexpr):
    """Top and mass [R] of the block that begins at `start`; a block of -inf alone has no mass."""
    index = start + tl.arange(0, BLOCK)[None, :]
    value = scaled(row_ptr, index, real[:, None] & (index < vocab), stride_v, scale)  # [R, BLOCK]
    top = tl.max(value, axis=1)
    mass = tl.sum(tl.exp2(value - tl.where(top == float("-inf"), 0.0, top)[:, None]), axis=1)
    return top, mass


@triton.jit
def row_of(tops_ptr, masses_ptr, row, real, blocks, BLOCKS: tl.constexpr):
    """Peak [R], total [R] and the blocks' masses against the peak [R, BLOCKS] of rows [R], from what was kept."""
    lane = tl.arange(0, BLOCKS)[None, :]
    place = row.to(tl.int64)[:, None] * blocks + lane
    mask = real[:, None] & (lane < blocks)
    top = tl.load(tops_ptr + place, mask=mask, other=float("-inf"))
    mass = tl.load(masses_ptr + place, mask=mask, other=0.0)
    peak = tl.max(top, axis=1)
    peak = tl.where(peak == float("-inf"), 0.0, peak)
    mass = mass * tl.exp2(top - peak[:, None])
    return peak, tl.sum(mass, axis=1), mass


@triton.jit
def chance_of(row_ptr, token, mask, stride_v, scale, peak, total):
    """Probability [R, NODES] of tokens in rows [R]; zero where the mask is not set."""
    value = scaled(row_ptr, token, mask, stride_v, scale)
    return tl.exp2(value - peak[:, None]) / tl.where(total > 0.0, total, 1.0)[:, None]


@triton.jit
def pick(weight, point, LANES: tl.constexpr):
    """First lane [R] at which the running sum of weights [R, LANES] exceeds a point [R], and the sum before it.

    Where rounding lets none exceed it, the last lane that has a weight; -1 where none has.
    """
    lane = tl.arange(0, LANES)[None, :]
    run = tl.cumsum(weight, axis=1)
    some = weight > 0.0
    first = tl.min(tl.where(some & (run > point[:, None]), lane, LANES), axis=1)
    chosen = tl.where(first < LANES, first, tl.max(tl.where(some, lane, -1), axis=1))
    before = tl.sum(tl.where(lane == chosen[:, None], run - weight, 0.0), axis=1)
    return chosen, before


@triton.jit
def next_of(wanted, after, NODES: tl.constexpr):
    """The first node [R] beyond `after` [R] that is wanted [R, NODES]; NODES where there is none."""
    node = tl.arange(0, NODES)[None, :]
    return tl.min(tl.where(wanted & (node > after[:, None]), node, NODES), axis=1)


@triton.jit
def at_node(values, node, NODES: tl.constexpr):
    """Value [R] at a node [R]; zero at NODES."""
    return tl.sum(tl.where(tl.arange(0, NODES)[None, :] == node[:, None], values, 0), axis=1)


@triton.jit(do_not_specialize=["rows", "nodes", "blocks", "each", "splits"])
def rows_masses(
    logits_ptr,
    temperature_ptr,
    tops_ptr,
    masses_ptr,
    rows,
    nodes,
    vocab,
    blocks,
    each,
    splits,
    stride_b,
    stride_n,
    stride_v,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Masses of all rows: `each` blocks of a row to a program; grid (ceil(rows / ROWS) * splits,)."""
    program = tl.program_id(0)
    group = program // splits
    row = group * ROWS + tl.arange(0, ROWS)
    real = row < rows
    request = row // nodes
    scale = scale_of(temperature_ptr, request, real)
    row_ptr = logits_ptr + request.to(tl.int64) * stride_b + (row - request * nodes).to(tl.int64) * stride_n
    first = (program - group * splits) * each
    for block in range(first, tl.minimum(first + each, blocks)):
        top, mass = mass_of_block(row_ptr, real, stride_v, scale, block * BLOCK, vocab, BLOCK)
        place = row.to(tl.int64) * blocks + block
        tl.store(tops_ptr + place, top, mask=real)
        tl.store(masses_ptr + place, mass, mask=real)
