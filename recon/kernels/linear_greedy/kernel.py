"""The Triton claim about the reference: argmax of all rows and the count of accepted drafts, in one launch.

Programs merge slices of rows with atomic_max; the last one to arrive for a request counts, and puts scratch back as it
was found, so that the launch can be captured and replayed.
"""

import triton
import triton.language as tl

from ..compiled import plain
from ..op import Build, Op, Variant, Work, compare_exactly
from ..row_best import merge_row, unpack
from ..slices import BLOCKS, NODE_LANES, NOTHING, chunk_of, configs, node_lanes, scratch_left
from ..wire import Axes
from . import spec
from .baselines import argmax_cumprod, compiled_whole
from .inputs import work_of
from .reference import reference

_LOWEST = tl.constexpr(NOTHING)


@triton.jit(do_not_specialize=["nodes", "splits"])
def linear_greedy_fused(
    logits_ptr,
    token_ptr,
    best_ptr,
    arrived_ptr,
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
        following = tl.load(token_ptr + base + node + 1, mask=node + 1 < nodes, other=-1)
        # Past the first cache: other multiprocessors wrote these.
        target = unpack(tl.load(best_ptr + base + node, mask=real, other=0, cache_modifier=".cg"))
        accepted = tl.min(tl.where(real & (following != target), node, NODES), axis=0)  # the last one never matches
        tl.store(emitted_ptr + base + node, tl.where(node <= accepted, target.to(tl.int64), -1), mask=real)
        tl.store(accepted_ptr + request, accepted)
        tl.debug_barrier()  # every warp has read its rows
        tl.store(best_ptr + base + node, tl.full([NODES], _LOWEST, tl.int64), mask=real)
        tl.store(arrived_ptr + request, 0)


def fused(work: Work, config: Axes) -> None:
    """Queue the fused launch."""
    logits = work.inputs["logits"]
    batch, nodes, vocab = logits.shape
    splits = int(config["splits"])
    linear_greedy_fused[(batch * nodes * splits,)](
        logits,
        work.inputs["token"],
        work.scratch["best"],
        work.scratch["arrived"],
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


def compare(work: Work) -> str:
    """First disagreement with the reference, or with the state in which scratch must be left."""
    wrong = compare_exactly(work.outputs, reference(**work.inputs))
    return wrong or compare_exactly(work.scratch, scratch_left(work.scratch))


def note(work: Work) -> str:
    """What the walk of this data is like."""
    accepted = work.outputs["accepted"].float().mean().item()
    return f"accepted drafts per request: {accepted:.2f}"


def builds() -> tuple[Build, ...]:
    """The fused launch in its production configurations."""
    pointers = {
        "logits_ptr": "*bf16",
        "token_ptr": "*i64",
        "best_ptr": "*i64",
        "arrived_ptr": "*i32",
        "emitted_ptr": "*i64",
        "accepted_ptr": "*i32",
    }
    integers = dict.fromkeys(("nodes", "vocab", "splits", "chunk", "stride_b", "stride_n"), "i32")
    aligned = frozenset(("vocab", "chunk", "stride_b", "stride_n"))
    return tuple(
        Build(
            "fused",
            linear_greedy_fused,
            pointers | integers,
            {"stride_v": 1, "NODES": lanes, "BLOCK": block},
            aligned,
            warps,
        )
        for block, warps in BLOCKS
        for lanes in NODE_LANES
    )


OP = Op(
    work=work_of,
    compare=compare,
    variants={
        "fused": Variant(fused, configs),
        "argmax_cumprod": Variant(argmax_cumprod),
        "compiled": Variant(compiled_whole, checked=plain),
    },
    bytes_of=spec.bytes_of,
    note=note,
    builds=builds,
)
