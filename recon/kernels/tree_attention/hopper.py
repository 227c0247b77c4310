"""The same for Hopper: one warp asks the copy engine for pages, one or two groups of warps multiply and weigh.

While one group weighs, the other's products keep the matrix units at work. It is Gluon, which says where things lie and
who waits for whom; the interpreter does not run it.
"""

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language._core import builtin
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

PAGE = gl.constexpr(16)
SPAN = gl.constexpr(64)
"""Columns of a box that the copy engine brings: 128 bytes."""

_bring = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
"""Asks for a box; Triton 3.6 knows it by the longer name."""


def boxes_of(cache: torch.Tensor) -> TensorDescriptor:
    """What the copy engine knows of a cache [P, 16, G, D]: boxes of a page and 64 columns of a head."""
    layout = gl.NVMMASharedLayout(128, 16, rank=2)
    return TensorDescriptor.from_tensor(cache.flatten(0, 1).flatten(1), [PAGE.value, SPAN.value], layout)


@builtin
def as_boxes(held, boxes, layout, _semantic=None):
    """A tile in shared memory as the boxes that it is brought in; what does this is called otherwise in Triton 3.6."""
    return _semantic.memdesc_reinterpret(held, held.dtype, [boxes.value, PAGE.value, SPAN.value], layout.value)


@gluon.jit
def request_at(length_ptr, position, request, ends, heads_tiles, BLOCK: gl.constexpr):
    """The request at a position of the line, where it ends, and its blocks of a tile; requests only go up."""
    blocks = 0
    while ends <= position:
        request += 1
        blocks = gl.load(length_ptr + request) // BLOCK
        ends += blocks * heads_tiles
    return request, ends, blocks


@gluon.jit
def load_blocks(
    k_desc,
    v_desc,
    keys,
    values,
    full,
    empty,
    table_ptr,
    length_ptr,
    table_stride,
    heads_tiles,
    kv_heads,
    position,
    until,
    DIM: gl.constexpr,
    BLOCK: gl.constexpr,
    STAGES: gl.constexpr,
):
    """Bring the blocks of the stretch, page by page."""
    pages: gl.constexpr = BLOCK // PAGE
    spans: gl.constexpr = DIM // SPAN
    layout: gl.constexpr = gl.NVMMASharedLayout(128, 16, rank=2)
    step = 0
    request = -1
    ends = 0
    blocks = 0
    while position < until:
        if ends <= position:
            request, ends, blocks = request_at(length_ptr, position, request, ends, heads_tiles, BLOCK)
        inside = position - ends + blocks * heads_tiles
        tile = inside // blocks
        first = inside % blocks
        stop = gl.minimum(blocks, first + until - position)
        column = tile // (heads_tiles // kv_heads) * DIM
        for block in range(first, stop):
            entry = table_ptr + gl.cast(request, gl.int64) * table_stride + block * pages
            stage = step % STAGES
            phase = (step // STAGES & 1) ^ 1
            for which in gl.static_range(2):
                desc = k_desc if which == 0 else v_desc
                held = keys if which == 0 else values
                bar = full.index(stage * 2 + which)
                mbarrier.wait(empty.index(stage * 2 + which), phase)
                mbarrier.expect(bar, BLOCK * DIM * 2)
                parts = as_boxes(held.index(stage), spans * pages, layout)
                for number in gl.static_range(pages):
                    row = gl.load(entry + number) * PAGE
                    for span in gl.static_range(spans):
                        _bring(desc, [row, column + span * SPAN], bar, parts.index(span * pages + number))
            step += 1
        position += stop - first


@gluon.jit
def multiply_values(weight, values, acc, full, empty, step, STAGES: gl.constexpr):
    """Add what the last weights of a stretch are due, with nothing else under way."""
    stage = step % STAGES
    mbarrier.wait(full.index(stage * 2 + 1), step // STAGES & 1)
    acc = warpgroup_mma(weight, values.index(stage), acc, is_async=True)
    acc, weight = warpgroup_mma_wait(0, deps=(acc, weight))
    mbarrier.arrive(empty.index(stage * 2 + 1), count=1)
    return acc


@gluon.jit
def multiply_blocks(
    queries,
    keys,
    values,
    full,
    empty,
    step,
    count,
    scale,
    DIM: gl.constexpr,
    ROWS: gl.constexpr,
    BLOCK: gl.constexpr,
    STAGES: gl.constexpr,
):
    """Sums, peaks and masses of some blocks: scores of the next are multiplied before values of the one at hand.

    So a group of warps weighs while its own product with values is under way. Sums stay where they are only if no other
    instruction touches them meanwhile: they fade once nothing is under way.
    """
    scores: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [ROWS // 16, 1], [16, BLOCK, 16])
    sums: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [ROWS // 16, 1], [16, DIM, 16])
    weights: gl.constexpr = gl.DotOperandLayout(0, sums, 2)
    dtype: gl.constexpr = queries.dtype
    acc = warpgroup_mma_init(gl.zeros([ROWS, DIM], gl.float32, sums))
    nothing = gl.zeros([ROWS, BLOCK], gl.float32, scores)
    stage = step % STAGES
    mbarrier.wait(full.index(stage * 2), step // STAGES & 1)
    score = warpgroup_mma(queries, keys.index(stage).permute((1, 0)), nothing, use_acc=False, is_async=True)
    score = warpgroup_mma_wait(0, deps=(score,))
    mbarrier.arrive(empty.index(stage * 2), count=1)
    top = gl.max(score, axis=1) * scale
    chance = gl.exp2(score * scale - top[:, None])
    mass = gl.sum(chance, axis=1)
    weight = gl.convert_layout(chance.to(dtype), weights)
    for _ in range(count - 1):
        after = (step + 1) % STAGES
        stage = step % STAGES
        mbarrier.wait(full.index(after * 2), (step + 1) // STAGES & 1)
        score = warpgroup_mma(queries, keys.index(after).permute((1, 0)), nothing, use_acc=False, is_async=True)
        mbarrier.wait(full.index(stage * 2 + 1), step // STAGES & 1)
        acc = warpgroup_mma(weight, values.index(stage), acc, is_async=True)
        score = warpgroup_mma_wait(1, deps=(score,))
        mbarrier.arrive(empty.index(after * 2), count=1)
        peak = gl.maximum(top, gl.max(score, axis=1) * scale)
        chance = gl.exp2(score * scale - peak[:, None])
        fade = gl.exp2(top - peak)
        mass = mass * fade + gl.sum(chance, axis=1)
        top = peak
        acc, weight = warpgroup_mma_wait(0, deps=(acc, weight))
        mbarrier.arrive(empty.index(stage * 2 + 1), count=1)
        weight = gl.convert_layout(chance.to(dtype), weights)
        acc = warpgroup_mma_init(acc * gl.convert_layout(fade, gl.SliceLayout(1, sums))[:, None])
        step += 1
    return multiply_values(weight, values, acc, full, empty, step, STAGES), top, mass


@gluon.jit
def multiply(
    q_ptr,
    part_ptr,
    log_ptr,
    queries,
    keys,
    values,
    full,
    empty,
    length_ptr,
    nodes,
    group,
    heads_tiles,
    kv_heads,
    position,
    until,
    scale,
    DIM: gl.constexpr,
    ROWS: gl.constexpr,
    BLOCK: gl.constexpr,
    STAGES: gl.constexpr,
):
    """Attention of the rows of each tile of the stretch."""
    loads: gl.constexpr = gl.BlockedLayout([1, 8], [256 // DIM, DIM // 8], [ROWS // 16, 1], [1, 0])
    row = gl.arange(0, ROWS, gl.SliceLayout(1, loads))
    dim = gl.arange(0, DIM, gl.SliceLayout(0, loads))
    tiles = heads_tiles // kv_heads
    step = 0
    request = -1
    ends = 0
    blocks = 0
    while position < until:
        if ends <= position:
            request, ends, blocks = request_at(length_ptr, position, request, ends, heads_tiles, BLOCK)
        inside = position - ends + blocks * heads_tiles
        tile = inside // blocks
        count = gl.minimum(blocks - inside % blocks, until - position)
        index = tile % tiles * ROWS + row
        node = index // group
        q_at = ((request * nodes + node).to(gl.int64) * kv_heads + tile // tiles) * group + index % group
        queries.store(gl.load(q_ptr + q_at[:, None] * DIM + dim[None, :], mask=(node < nodes)[:, None], other=0.0))
        fence_async_shared()
        acc, top, mass = multiply_blocks(
            queries, keys, values, full, empty, step, count, scale, DIM, ROWS, BLOCK, STAGES
        )
        of_sums: gl.constexpr = gl.SliceLayout(1, acc.type.layout)
        wide = gl.arange(0, DIM, gl.SliceLayout(0, acc.type.layout))
        part = gl.cast(gl.program_id(0) + request * heads_tiles + tile, gl.int64) * ROWS + gl.arange(0, ROWS, of_sums)
        out = acc * gl.convert_layout(1.0 / mass, of_sums)[:, None]
        gl.store(part_ptr + part[:, None] * DIM + wide[None, :], out.to(part_ptr.dtype.element_ty))
        gl.store(log_ptr + part, gl.convert_layout(top + gl.log2(mass), of_sums))
        position += count
        step += count


@gluon.jit(do_not_specialize=["batch", "nodes", "group", "kv_heads", "table_stride"])
def attend_contexts_hopper(
    k_desc,
    v_desc,
    q_ptr,
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
    DIM: gl.constexpr,
    ROWS: gl.constexpr,
    BLOCK: gl.constexpr,
    STAGES: gl.constexpr,
):
    """One program per stretch of the line of blocks; a warp for each 16 rows."""
    layout: gl.constexpr = gl.NVMMASharedLayout(128, 16, rank=2)
    dtype: gl.constexpr = q_ptr.dtype.element_ty
    queries = gl.allocate_shared_memory(dtype, [ROWS, DIM], layout)
    keys = gl.allocate_shared_memory(dtype, [STAGES, BLOCK, DIM], layout)
    values = gl.allocate_shared_memory(dtype, [STAGES, BLOCK, DIM], layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES * 2, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES * 2, 1], mbarrier.MBarrierLayout())
    for number in gl.static_range(STAGES * 2):
        mbarrier.init(full.index(number), count=1)
        mbarrier.init(empty.index(number), count=1)

    heads_tiles = kv_heads * gl.cdiv(group * nodes, ROWS)
    total = 0
    for each in range(batch):
        total += gl.load(length_ptr + each) // BLOCK
    total *= heads_tiles
    share = gl.cdiv(total, gl.num_programs(0))
    position = gl.program_id(0) * share
    until = gl.minimum(position + share, total)
    gl.warp_specialize(
        [
            (
                multiply,
                (
                    q_ptr,
                    part_ptr,
                    log_ptr,
                    queries,
                    keys,
                    values,
                    full,
                    empty,
                    length_ptr,
                    nodes,
                    group,
                    heads_tiles,
                    kv_heads,
                    position,
                    until,
                    scale,
                    DIM,
                    ROWS,
                    BLOCK,
                    STAGES,
                ),
            ),
            (
                load_blocks,
                (
                    k_desc,
                    v_desc,
                    keys,
                    values,
                    full,
                    empty,
                    table_ptr,
                    length_ptr,
                    table_stride,
                    heads_tiles,
                    kv_heads,
                    position,
                    until,
                    DIM,
                    BLOCK,
                    STAGES,
                ),
            ),
        ],
        [1],
        [40],
    )
