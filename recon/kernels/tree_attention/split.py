"""Attention of draft nodes to their contexts, which every node sees whole: nothing is masked here.

The work is one line of blocks: for each request, each key head and each tile of query rows, the whole blocks of the
context. Every program takes an equal stretch of the line, whatever the requests' lengths are, and leaves for each tile
that it touches a normalised part of the output with the logarithm of its mass. Parts lie in the order of the line, so
those of one tile lie side by side.
"""

import triton
import triton.language as tl

PAGE = tl.constexpr(16)
"""Tokens in a page of the cache."""
_EMPTY = tl.constexpr(float("-inf"))


@triton.jit
def blocks_before(length_ptr, request, BLOCK: tl.constexpr):
    """Whole blocks of the contexts of all requests before one."""
    blocks = 0
    for each in range(request):
        blocks += tl.load(length_ptr + each) // BLOCK
    return blocks


@triton.jit
def weigh(score, value, acc, top, mass, scale):
    """Add a block to sums with their peaks and masses; times `scale`, scores are logarithms to the base two."""
    peak = tl.maximum(top, tl.max(score, axis=1) * scale)
    weight = tl.math.exp2(score * scale - peak[:, None])
    fade = tl.math.exp2(top - peak)
    return tl.dot(weight.to(value.dtype), value, acc * fade[:, None]), peak, mass * fade + tl.sum(weight, axis=1)


@triton.jit(do_not_specialize=["batch", "nodes", "group", "kv_heads", "table_stride"])
def attend_contexts(
    q_ptr,
    k_ptr,
    v_ptr,
    table_ptr,
    length_ptr,
    part_ptr,
    log_ptr,
    batch,
    nodes,
    group,
    kv_heads,
    table_stride,
    scale,
    DIM: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    STAGES: tl.constexpr,
):
    """One program per stretch of the line of blocks."""
    dtype: tl.constexpr = q_ptr.dtype.element_ty
    program = tl.program_id(0)
    heads_tiles = kv_heads * tl.cdiv(group * nodes, ROWS)
    total = blocks_before(length_ptr, batch, BLOCK) * heads_tiles
    share = tl.cdiv(total, tl.num_programs(0))
    position = program * share
    until = tl.minimum(position + share, total)

    row = tl.arange(0, ROWS)
    lane = tl.arange(0, BLOCK)
    dim = tl.arange(0, DIM)
    in_page = (lane % PAGE * (kv_heads * DIM))[:, None] + dim
    request = -1
    ends = 0
    blocks = 0
    while position < until:
        while ends <= position:
            request += 1
            blocks = tl.load(length_ptr + request) // BLOCK
            ends += blocks * heads_tiles
        inside = position - ends + blocks * heads_tiles
        tile = inside // blocks
        first = inside % blocks
        stop = tl.minimum(blocks, first + until - position)
        kv_head = tile // (heads_tiles // kv_heads)
        index = tile % (heads_tiles // kv_heads) * ROWS + row
        node = index // group
        q_at = ((request * nodes + node).to(tl.int64) * kv_heads + kv_head) * group + index % group
        q = tl.load(q_ptr + q_at[:, None] * DIM + dim, mask=(node < nodes)[:, None], other=0.0)
        acc = tl.zeros([ROWS, DIM], tl.float32)
        top = tl.full([ROWS], _EMPTY, tl.float32)
        mass = tl.zeros([ROWS], tl.float32)

        entry_ptr = table_ptr + tl.cast(request, tl.int64) * table_stride + lane // PAGE
        last = (blocks - 1) * (BLOCK // PAGE)
        pages = tl.load(entry_ptr + first * (BLOCK // PAGE))
        for block in tl.range(first, stop, num_stages=STAGES):
            at = (pages.to(tl.int64) * (PAGE * kv_heads * DIM) + kv_head * DIM)[:, None] + in_page
            pages = tl.load(entry_ptr + tl.minimum((block + 1) * (BLOCK // PAGE), last))  # of the next, asked for early
            key = tl.load(k_ptr + at).to(dtype)
            value = tl.load(v_ptr + at).to(dtype)
            acc, top, mass = weigh(tl.dot(q, tl.trans(key)), value, acc, top, mass, scale)

        slot = program + request * heads_tiles + tile
        part = slot.to(tl.int64) * ROWS + row
        out = acc * (1.0 / mass)[:, None]
        tl.store(part_ptr + part[:, None] * DIM + dim, out.to(part_ptr.dtype.element_ty))
        tl.store(log_ptr + part, top + tl.math.log2(mass))
        position += stop - first
