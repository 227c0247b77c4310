"""Triton pieces that the greedy kernels share: the best of a slice of a row, packed so that atomic_max can merge it.

The packed form holds an order-preserving integer of the value above the complement of the index: a larger packed
number is a larger value or, among equal values, a lower index. Any order of merging gives the same answer.
"""

import triton
import triton.language as tl

from .slices import NOTHING

_LOWEST = tl.constexpr(NOTHING)


@triton.jit
def best_of_slice(row_ptr, stride_v, begin, end, BLOCK: tl.constexpr):
    """Packed best of elements begin..end of a row; NOTHING for an empty slice.

    A block is asked for before the one ahead of it is looked at: left to itself the assembler waits for each load.
    """
    lane = tl.arange(0, BLOCK)
    best = tl.full([BLOCK], float("-inf"), tl.float32)  # [BLOCK]
    found = tl.zeros([BLOCK], tl.int32) + begin  # [BLOCK], start of the block that `best` was found in
    place = row_ptr + (begin + lane).to(tl.int64) * stride_v
    block = tl.load(place, mask=begin + lane < end, other=float("-inf"))
    for start in range(begin, end, BLOCK):
        index = start + BLOCK + lane
        following = tl.load(row_ptr + index.to(tl.int64) * stride_v, mask=index < end, other=float("-inf"))
        value = block.to(tl.float32)
        found = tl.where(value <= best, found, start)  # three instructions an element, and not one more for a NaN
        best = tl.maximum(best, value, propagate_nan=tl.PropagateNan.ALL)
        block = following
    packed = tl.max(pack(best, found + lane, begin + lane < end), axis=0)
    if (packed >> 32) == 0x7FFFFFFF:  # a NaN beats every number, and the first one wins: only now is it looked for
        first = tl.full([BLOCK], 0x7FFFFFFF, tl.int32)
        for start in range(begin, end, BLOCK):
            index = start + lane
            again = tl.load(row_ptr + index.to(tl.int64) * stride_v, mask=index < end, other=0.0).to(tl.float32)
            first = tl.minimum(first, tl.where(again != again, index, 0x7FFFFFFF))  # noqa: PLR0124
        packed = (packed >> 32 << 32) | (0x7FFFFFFF - tl.min(first, axis=0)).to(tl.int64)
    return packed


@triton.jit
def pack(value, index, exists):
    """Packed form of float32 values at int32 indexes, NOTHING where there is none."""
    value = tl.where(value == 0.0, 0.0, value)  # -0.0 equals 0.0
    bits = value.to(tl.int32, bitcast=True)
    order = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # as integers, negative floats count down
    order = tl.where(value != value, 0x7FFFFFFF, order)  # noqa: PLR0124
    packed = (order.to(tl.int64) << 32) | (0x7FFFFFFF - index).to(tl.int64)
    return tl.where(exists, packed, tl.full(packed.shape, _LOWEST, tl.int64))


@triton.jit
def unpack(packed):
    """Index of a packed value, int32."""
    return 0x7FFFFFFF - (packed & 0x7FFFFFFF).to(tl.int32)


@triton.jit
def merge_row(
    logits_ptr, best_ptr, arrived_ptr, nodes, vocab, splits, chunk, stride_b, stride_n, stride_v, BLOCK: tl.constexpr
):
    """Merge this program's slice into its row; the request, and whether all its slices are merged now.

    One program per slice: row-major, `splits` slices of `chunk` elements to a row.
    """
    program = tl.program_id(0)
    row = program // splits
    request = row // nodes
    node = row - request * nodes
    row_ptr = logits_ptr + request.to(tl.int64) * stride_b + node.to(tl.int64) * stride_n
    begin = (program - row * splits) * chunk
    end = tl.minimum(begin + chunk, vocab)
    tl.atomic_max(best_ptr + row, best_of_slice(row_ptr, stride_v, begin, end, BLOCK), sem="relaxed")
    # Release what was merged, and acquire what the others merged.
    arrived = tl.atomic_add(arrived_ptr + request, 1, sem="acq_rel")
    return request, arrived == nodes * splits - 1
