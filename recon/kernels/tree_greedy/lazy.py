"""Only the rows that are visited: one launch for each level of the trees, and nothing to wait for inside of one.

Each launch begins by deciding the level before from the slices that the launch before left; every program of a request
comes to the same answer, and the first of them writes it down. Slices of a level lie in one of two halves in turn, so
that no program overwrites what a slower one still reads.
"""

import triton
import triton.language as tl

from ..op import Work
from ..row_best import best_of_slice, unpack
from ..slices import MOST_SPLITS, NOTHING, chunk_of, node_lanes
from ..wire import Axes

_LOWEST = tl.constexpr(NOTHING)


@triton.jit(do_not_specialize=["level", "batch", "nodes", "splits"])
def tree_greedy_level(
    logits_ptr,
    token_ptr,
    parent_ptr,
    here_ptr,
    slices_ptr,
    path_ptr,
    emitted_ptr,
    accepted_ptr,
    level,
    batch,
    nodes,
    vocab,
    splits,
    chunk,
    stride_b,
    stride_n,
    stride_v,
    NODES: tl.constexpr,
    SPLITS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Decide the level before, then find the best of a slice of this level's row.

    Grid (splits, batch), or (1, batch) after the last level.
    """
    split = tl.program_id(0)
    request = tl.program_id(1)
    base = request.to(tl.int64) * nodes
    here = 0
    if level > 0:
        before = tl.load(here_ptr + (level - 1) * batch + request)
        here = -1
        if before >= 0:
            node = tl.arange(0, NODES)
            real = node < nodes
            token = tl.load(token_ptr + base + node, mask=real, other=-1)
            parent = tl.load(parent_ptr + base + node, mask=real, other=-1)
            lane = tl.arange(0, SPLITS)
            half = ((level - 1) % 2 * batch + request).to(tl.int64) * splits
            slices = tl.load(slices_ptr + half + lane, mask=lane < splits, other=_LOWEST)
            target = unpack(tl.max(slices, axis=0))
            child = tl.min(tl.where((parent == before) & (parent < node) & (token == target), node, NODES), axis=0)
            here = tl.where(child < NODES, child, -1)
            if split == 0:
                tl.store(emitted_ptr + base + level - 1, target.to(tl.int64))
                if here < 0:
                    unused = (node >= level) & real
                    tl.store(path_ptr + base + node, -1, mask=unused)
                    tl.store(emitted_ptr + base + node, -1, mask=unused)
                    tl.store(accepted_ptr + request, level - 1)
    if split == 0:
        tl.store(here_ptr + level * batch + request, here)
    if here >= 0:
        if split == 0:
            tl.store(path_ptr + base + level, here)
        row_ptr = logits_ptr + request.to(tl.int64) * stride_b + tl.cast(here, tl.int64) * stride_n
        begin = split * chunk
        best = best_of_slice(row_ptr, stride_v, begin, tl.minimum(begin + chunk, vocab), BLOCK)
        tl.store(slices_ptr + (level % 2 * batch + request).to(tl.int64) * splits + split, best)


def lazy(work: Work, config: Axes) -> None:
    """Queue a launch for each level, and one to decide the last."""
    logits, here = work.inputs["logits"], work.scratch["here"]
    batch, nodes, vocab = logits.shape
    splits = int(config["splits"])
    for level in range(len(here)):
        tree_greedy_level[(splits if level + 1 < len(here) else 1, batch)](
            logits,
            work.inputs["token"],
            work.inputs["parent"],
            here,
            work.scratch["slices"],
            work.outputs["path"],
            work.outputs["emitted"],
            work.outputs["accepted"],
            level,
            batch,
            nodes,
            vocab,
            splits,
            chunk_of(vocab, splits),
            *logits.stride(),
            NODES=node_lanes(nodes),
            SPLITS=MOST_SPLITS,
            BLOCK=int(config["block"]),
            num_warps=int(config["warps"]),
        )
