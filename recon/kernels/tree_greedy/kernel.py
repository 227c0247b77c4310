"""The Triton claim about the reference: argmax of all rows and the walk of each tree, in one launch.

Programs merge slices of rows with atomic_max; the last one to arrive for a request walks its tree, and puts scratch
back as it was found, so that the launch can be captured and replayed.
"""

import torch
import triton
import triton.language as tl

from ..op import Build, Op, Variant, Work, compare_exactly
from ..row_best import merge_row, unpack
from ..slices import BLOCKS, NODE_LANES, NOTHING, chunk_of, configs, node_lanes, scratch_left
from ..wire import Axes
from . import spec
from .inputs import work_of
from .reference import reference

_LOWEST = tl.constexpr(NOTHING)


@triton.jit
def walk_tree(target, follows, parent, node, path_ptr, emitted_ptr, accepted_ptr, base, request, nodes, NODES):
    """Walk one tree and write what was visited.

    `follows` [NODES] says that a node holds the token which the target chose at its parent.
    """
    depth = tl.where(node == 0, 0, -1)  # [NODES], of nodes visited
    steps = 0
    child = tl.min(tl.where(follows & (parent == 0), node, NODES), axis=0)
    while child < NODES:
        steps += 1
        depth = tl.where(node == child, steps, depth)
        child = tl.min(tl.where(follows & (parent == child), node, NODES), axis=0)
    unused = (node > steps) & (node < nodes)
    tl.store(path_ptr + base + node, -1, mask=unused)
    tl.store(emitted_ptr + base + node, -1, mask=unused)
    tl.store(path_ptr + base + depth, node, mask=depth >= 0)
    tl.store(emitted_ptr + base + depth, target.to(tl.int64), mask=depth >= 0)
    tl.store(accepted_ptr + request, steps)


@triton.jit(do_not_specialize=["nodes", "splits"])
def tree_greedy_fused(
    logits_ptr,
    token_ptr,
    parent_ptr,
    best_ptr,
    arrived_ptr,
    path_ptr,
    emitted_ptr,
    accepted_ptr,
    nodes,
    vocab,
    splits,
    chunk,
    stride_b,
    stride_n,
    stride_v,
    NODES: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """One program per slice of a row; grid (batch * nodes * splits,)."""
    request, last = merge_row(
        logits_ptr, best_ptr, arrived_ptr, nodes, vocab, splits, chunk, stride_b, stride_n, stride_v, BLOCK
    )
    if last:
        base = request.to(tl.int64) * nodes
        node = tl.arange(0, NODES)
        real = node < nodes
        token = tl.load(token_ptr + base + node, mask=real, other=-1)
        parent = tl.load(parent_ptr + base + node, mask=real, other=-1)
        hangs = real & (parent >= 0) & (parent < node)
        # Past the first cache: other multiprocessors wrote these.
        target = unpack(tl.load(best_ptr + base + node, mask=real, other=0, cache_modifier=".cg"))
        above = unpack(tl.load(best_ptr + base + parent, mask=hangs, other=0, cache_modifier=".cg"))
        follows = hangs & (token == above)
        walk_tree(target, follows, parent, node, path_ptr, emitted_ptr, accepted_ptr, base, request, nodes, NODES)
        tl.debug_barrier()  # every warp has read its rows
        tl.store(best_ptr + base + node, tl.full([NODES], _LOWEST, tl.int64), mask=real)
        tl.store(arrived_ptr + request, 0)


@triton.jit(do_not_specialize=["nodes"])
def tree_greedy_walk(
    target_ptr, token_ptr, parent_ptr, path_ptr, emitted_ptr, accepted_ptr, nodes, NODES: tl.constexpr
):
    """The walk alone, on choices made before; grid (batch,)."""
    request = tl.program_id(0)
    base = request.to(tl.int64) * nodes
    node = tl.arange(0, NODES)
    real = node < nodes
    token = tl.load(token_ptr + base + node, mask=real, other=-1)
    parent = tl.load(parent_ptr + base + node, mask=real, other=-1)
    hangs = real & (parent >= 0) & (parent < node)
    target = tl.load(target_ptr + base + node, mask=real, other=-1)
    above = tl.load(target_ptr + base + parent, mask=hangs, other=-1)
    follows = hangs & (token == above)
    walk_tree(target, follows, parent, node, path_ptr, emitted_ptr, accepted_ptr, base, request, nodes, NODES)


def fused(work: Work, config: Axes) -> None:
    """Queue the fused launch."""
    logits = work.inputs["logits"]
    batch, nodes, vocab = logits.shape
    splits = int(config["splits"])
    tree_greedy_fused[(batch * nodes * splits,)](
        logits,
        work.inputs["token"],
        work.inputs["parent"],
        work.scratch["best"],
        work.scratch["arrived"],
        work.outputs["path"],
        work.outputs["emitted"],
        work.outputs["accepted"],
        nodes,
        vocab,
        splits,
        chunk_of(vocab, splits),
        *logits.stride(),
        NODES=node_lanes(nodes),
        BLOCK=int(config["block"]),
        num_warps=int(config["warps"]),
    )


def argmax_walk(work: Work, _config: Axes) -> None:
    """Queue torch's argmax, then the walk."""
    batch, nodes, _ = work.inputs["logits"].shape
    torch.argmax(work.inputs["logits"], dim=-1, out=work.scratch["target"])
    tree_greedy_walk[(batch,)](
        work.scratch["target"],
        work.inputs["token"],
        work.inputs["parent"],
        work.outputs["path"],
        work.outputs["emitted"],
        work.outputs["accepted"],
        nodes,
        NODES=node_lanes(nodes),
        num_warps=1,
    )


def compare(work: Work) -> str:
    """First disagreement with the reference, or with the state in which scratch must be left."""
    wrong = compare_exactly(work.outputs, reference(**work.inputs))
    return wrong or compare_exactly(work.scratch, scratch_left(work.scratch))


def note(work: Work) -> str:
    """What the walk of this data is like."""
    accepted = work.outputs["accepted"].float().mean().item()
    return f"accepted drafts per request: {accepted:.2f}"


def builds() -> tuple[Build, ...]:
    """The fused launch in its production configurations, and the walk."""
    pointers = {
        "logits_ptr": "*bf16",
        "token_ptr": "*i64",
        "parent_ptr": "*i32",
        "best_ptr": "*i64",
        "arrived_ptr": "*i32",
        "path_ptr": "*i32",
        "emitted_ptr": "*i64",
        "accepted_ptr": "*i32",
    }
    integers = dict.fromkeys(("nodes", "vocab", "splits", "chunk", "stride_b", "stride_n"), "i32")
    aligned = frozenset(("vocab", "chunk", "stride_b", "stride_n"))
    fused_builds = [
        Build(
            "fused",
            tree_greedy_fused,
            pointers | integers,
            {"stride_v": 1, "NODES": lanes, "BLOCK": block},
            aligned,
            warps,
        )
        for block, warps in BLOCKS
        for lanes in NODE_LANES
    ]
    walk_types = {name: kind for name, kind in pointers.items() if name in _WALK_POINTERS} | {"target_ptr": "*i64"}
    walks = [
        Build("argmax_walk", tree_greedy_walk, walk_types | {"nodes": "i32"}, {"NODES": lanes}, frozenset(), 1)
        for lanes in NODE_LANES
    ]
    return (*fused_builds, *walks)


_WALK_POINTERS = frozenset(("token_ptr", "parent_ptr", "path_ptr", "emitted_ptr", "accepted_ptr"))

OP = Op(
    work=work_of,
    compare=compare,
    variants={"fused": Variant(fused, configs), "argmax_walk": Variant(argmax_walk)},
    bytes_of=spec.bytes_of,
    note=note,
    builds=builds,
)
