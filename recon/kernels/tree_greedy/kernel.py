"""The Triton claim about the reference: argmax of all rows and the walk of each tree, in one launch.

Programs merge slices of rows with atomic_max; the last one to arrive for a request walks its tree, and puts scratch
back as it was found, so that the launch can be captured and replayed.
"""

import triton
import triton.language as tl

from ..builds import NODES, build
from ..card import Card
from ..compiled import plain
from ..forms import Costs, prefers_lazy
from ..op import Build, Op, Variant, Work, compare_exactly
from ..row_best import merge_row, unpack
from ..slices import BLOCKS, MOST_SPLITS, NODE_LANES, NOTHING, chunk_of, configs, lazy_configs, node_lanes, scratch_left
from ..wire import Axes
from . import spec
from .baselines import argmax_walk, compiled_walk, eager, tree_greedy_walk
from .inputs import work_of
from .lazy import lazy, tree_greedy_level
from .reference import reference
from .walk import walk_tree

_LOWEST = tl.constexpr(NOTHING)


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
    node = tl.arange(0, NODES)
    real = node < nodes
    # Asked for before the logits, so that whoever walks does not have to wait for them.
    base = (tl.program_id(0) // splits // nodes).to(tl.int64) * nodes
    token = tl.load(token_ptr + base + node, mask=real, other=-1)
    parent = tl.load(parent_ptr + base + node, mask=real, other=-1)
    hangs = real & (parent >= 0) & (parent < node)
    request, last = merge_row(
        logits_ptr, best_ptr, arrived_ptr, nodes, vocab, splits, chunk, stride_b, stride_n, stride_v, BLOCK
    )
    if last:
        # Past the first cache: other multiprocessors wrote these.
        target = unpack(tl.load(best_ptr + base + node, mask=real, other=0, cache_modifier=".cg"))
        above = unpack(tl.load(best_ptr + base + parent, mask=hangs, other=0, cache_modifier=".cg"))
        follows = hangs & (token == above)
        walk_tree(target, follows, parent, node, path_ptr, emitted_ptr, accepted_ptr, base, request, nodes, NODES)
        tl.debug_barrier()  # every warp has read its rows
        tl.store(best_ptr + base + node, tl.full([NODES], _LOWEST, tl.int64), mask=real)
        tl.store(arrived_ptr + request, 0)


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


COSTS = Costs(fused_us=4.5, launch_us=1.1, level_us=2.8, fused_passes=1.15, lazy_passes=1.4)
"""Fitted to times on an H200."""


def form_configs(axes: Axes, card: Card) -> tuple[Axes, ...]:
    """Configurations of the form that the rule prefers."""
    if prefers_lazy(axes, card, COSTS):
        return tuple({**config, "form": "lazy"} for config in lazy_configs(axes, card))
    return tuple({**config, "form": "fused"} for config in configs(axes, card))


def auto(work: Work, config: Axes) -> None:
    """Queue whichever form the rule preferred."""
    (lazy if config["form"] == "lazy" else fused)(work, config)


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
    levels = [
        build("lazy", tree_greedy_level, warps, NODES=NODES, SPLITS=MOST_SPLITS, BLOCK=block) for block, warps in BLOCKS
    ]
    return (*fused_builds, *walks, *levels)


_WALK_POINTERS = frozenset(("token_ptr", "parent_ptr", "path_ptr", "emitted_ptr", "accepted_ptr"))

OP = Op(
    work=work_of,
    compare=compare,
    variants={
        "fused": Variant(fused, configs),
        "lazy": Variant(lazy, lazy_configs, spec.visited_bytes_of),
        "auto": Variant(auto, form_configs, spec.visited_bytes_of),
        "argmax_walk": Variant(argmax_walk),
        "compiled_walk": Variant(compiled_walk, checked=plain),
        "eager": Variant(eager),
    },
    bytes_of=spec.bytes_of,
    note=note,
    builds=builds,
)
