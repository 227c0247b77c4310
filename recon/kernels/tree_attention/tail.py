"""Attention of draft nodes to the draft itself, where masks are, merged with what was left of the contexts."""

import triton
import triton.language as tl

from .split import PAGE

_EMPTY = tl.constexpr(float("-inf"))


@triton.jit
def zero_of(peak):
    """What weights are relative to: the peak, where anything was seen at all."""
    return tl.where(peak == _EMPTY, 0.0, peak)


@triton.jit
def bits_of(mask_ptr, row, first, words, real):
    """Bits for 32 tokens from the draft's node `first` on; tokens before its first are seen by all."""
    word = tl.minimum(tl.maximum(first, 0) // 32, words - 1)
    after = tl.minimum(word + 1, words - 1)  # beyond the last word lies no node
    low = tl.load(mask_ptr + row * words + word, mask=real, other=0).to(tl.int64) & 0xFFFFFFFF
    high = tl.load(mask_ptr + row * words + after, mask=real, other=0).to(tl.int64)
    bits = ((high << 32) | low) >> (tl.maximum(first, 0) % 32)
    before = tl.minimum(tl.maximum(-first, 0), 32).to(tl.int64)
    return ((bits << before) | ((tl.full([1], 1, tl.int64) << before) - 1)) & 0xFFFFFFFF


@triton.jit
def weigh_draft(
    q,
    k_ptr,
    v_ptr,
    table_ptr,
    mask_ptr,
    request,
    node,
    nodes,
    begin,
    context,
    kv_head,
    kv_heads,
    table_stride,
    words,
    tree,
    scale,
    DIM: tl.constexpr,
    SOME: tl.constexpr,
    WIDE: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """Attention of some rows to the tokens from `begin` on, for the columns of this program: sums, peaks, masses."""
    real = node < nodes
    dim = tl.arange(0, DIM)
    wide = tl.program_id(2) * WIDE + tl.arange(0, WIDE)
    lane = tl.arange(0, CHUNK)
    end = context + nodes
    row = (request * nodes + node).to(tl.int64)
    acc = tl.zeros([SOME, WIDE], tl.float32)
    top = tl.full([SOME], _EMPTY, tl.float32)
    mass = tl.zeros([SOME], tl.float32)
    for first in tl.range(begin, end, CHUNK, num_stages=1):
        token = first + lane
        there = token < end
        page = tl.load(table_ptr + request.to(tl.int64) * table_stride + tl.minimum(token, end - 1) // PAGE)
        at = ((page.to(tl.int64) * PAGE + token % PAGE) * kv_heads + kv_head)[:, None] * DIM
        key = tl.load(k_ptr + at + dim, mask=there[:, None], other=0.0).to(q.dtype)
        value = tl.load(v_ptr + at + wide, mask=there[:, None], other=0.0).to(q.dtype)
        if tree:
            bits = bits_of(mask_ptr, row, first - context, words, real)
            if CHUNK > 32:
                bits |= bits_of(mask_ptr, row, first - context + 32, words, real) << 32
            seen = ((bits[:, None] >> lane) & 1) != 0
        else:
            seen = token - context <= node[:, None]
        score = tl.where(seen & there, tl.dot(q, tl.trans(key)), _EMPTY)
        peak = tl.maximum(top, tl.max(score, axis=1) * scale)
        zero = zero_of(peak)
        weight = tl.math.exp2(score * scale - zero[:, None])
        fade = tl.math.exp2(top - zero)
        mass = mass * fade + tl.sum(weight, axis=1)
        acc = tl.dot(weight.to(q.dtype), value, acc * fade[:, None])
        top = peak
    return acc, top, mass


@triton.jit
def merge_parts(
    acc, top, mass, part_ptr, log_ptr, part, count, stride, real, wide, DIM: tl.constexpr, PARTS: tl.constexpr
):
    """Add the parts of some rows, each `stride` rows behind the one before, to sums with their peaks and masses.

    Parts lie in the middle axis of three, which Triton gives to no other lane or warp: they are added where they are.
    """
    number = tl.arange(0, PARTS)
    for some in tl.range(0, count, PARTS, num_stages=1):
        there = (some + number < count)[None, :] & real[:, None]
        at = part[:, None] + (some + number)[None, :] * stride
        log = tl.load(log_ptr + at, mask=there, other=_EMPTY)
        left = tl.load(part_ptr + at[:, :, None] * DIM + wide, mask=there[:, :, None], other=0.0).to(tl.float32)
        peak = tl.maximum(top, tl.max(log, axis=1))
        zero = zero_of(peak)
        weight = tl.math.exp2(log - zero[:, None])
        fade = tl.math.exp2(top - zero)
        acc = acc * fade[:, None] + tl.sum(left * weight[:, :, None], axis=1)
        mass = mass * fade + tl.sum(weight, axis=1)
        top = peak
    return acc, mass


@triton.jit(
    do_not_specialize=[
        *("batch", "nodes", "group", "kv_heads", "table_stride", "words"),
        *("programs", "tile_rows", "block", "tree"),
    ]
)
def attend_drafts(
    q_ptr,
    k_ptr,
    v_ptr,
    table_ptr,
    length_ptr,
    mask_ptr,
    out_ptr,
    part_ptr,
    log_ptr,
    batch,
    nodes,
    group,
    kv_heads,
    table_stride,
    words,
    programs,
    tile_rows,
    block,
    tree,
    scale,
    v_scale,
    DIM: tl.constexpr,
    SOME: tl.constexpr,
    WIDE: tl.constexpr,
    CHUNK: tl.constexpr,
    PARTS: tl.constexpr,
    BATCH: tl.constexpr,
):
    """One program for some rows and some of their columns; grid (batch, kv_heads * rows / SOME, DIM / WIDE)."""
    request = tl.program_id(0)
    pieces = tl.num_programs(1) // kv_heads
    kv_head = tl.program_id(1) // pieces
    start = tl.program_id(1) % pieces * SOME
    row = tl.arange(0, SOME)
    index = start + row
    node = index // group
    real = node < nodes
    wide = tl.program_id(2) * WIDE + tl.arange(0, WIDE)
    at = ((request * nodes + node).to(tl.int64) * kv_heads + kv_head) * group + index % group
    q = tl.load(q_ptr + at[:, None] * DIM + tl.arange(0, DIM), mask=real[:, None], other=0.0)

    # Programs that took a stretch of this tile, and where the first of them left its part.
    each = tl.arange(0, BATCH)
    of_each = tl.load(length_ptr + each, mask=each < batch, other=0) // block
    context = tl.load(length_ptr + request)
    blocks = context // block
    tiles = tl.cdiv(group * nodes, tile_rows)
    tile = kv_head * tiles + start // tile_rows
    share = tl.maximum(tl.cdiv(tl.sum(of_each, axis=0) * tiles * kv_heads, programs), 1)
    begin = tl.sum(tl.where(each < request, of_each, 0), axis=0) * tiles * kv_heads + tile * blocks
    first = begin // share
    count = tl.where(blocks > 0, (begin + blocks - 1) // share - first + 1, 0)
    part = (first + request * tiles * kv_heads + tile).to(tl.int64) * tile_rows + start % tile_rows + row

    acc, top, mass = weigh_draft(
        q,
        k_ptr,
        v_ptr,
        table_ptr,
        mask_ptr,
        request,
        node,
        nodes,
        blocks * block,
        context,
        kv_head,
        kv_heads,
        table_stride,
        words,
        tree,
        scale,
        DIM,
        SOME,
        WIDE,
        CHUNK,
    )
    acc, mass = merge_parts(acc, top, mass, part_ptr, log_ptr, part, count, tile_rows, real, wide, DIM, PARTS)
    out = acc * (v_scale / tl.where(real, mass, 1.0))[:, None]
    tl.store(out_ptr + at[:, None] * DIM + wide, out.to(out_ptr.dtype.element_ty), mask=real[:, None])


@triton.jit(do_not_specialize=["rows"])
def merge_two(first_ptr, first_log_ptr, second_ptr, second_log_ptr, out_ptr, rows, DIM: tl.constexpr):
    """Merge two parts of a row by the logarithms of their masses; grid (rows, heads)."""
    row = tl.program_id(0)
    head = tl.program_id(1)
    at = (row * tl.num_programs(1) + head).to(tl.int64) * DIM + tl.arange(0, DIM)
    first_log = tl.load(first_log_ptr + head * rows + row)
    second_log = tl.load(second_log_ptr + head * rows + row)
    top = tl.maximum(first_log, second_log)
    first = tl.exp(first_log - top)
    second = tl.exp(second_log - top)
    whole = tl.load(first_ptr + at).to(tl.float32) * first + tl.load(second_ptr + at).to(tl.float32) * second
    tl.store(out_ptr + at, (whole / (first + second)).to(out_ptr.dtype.element_ty))
