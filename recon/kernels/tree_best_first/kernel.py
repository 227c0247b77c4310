"""The Triton claim about the reference: one program expands a request's tree, without asking the host.

Each lane stands for a node and holds that node's best child that is not in the tree. A step takes the best of all lanes
by two reductions: over the sums, as integers of the same order, and among equal ones over depth, rank and node in one
integer, which thereby tells all that is needed of the child.
"""

import triton
import triton.language as tl

from ..building import LOWEST, ordered, store_ancestors, words_for
from ..op import Build, Op, Variant, Work, compare_exactly
from ..slices import node_lanes
from ..wire import Axes
from . import spec
from .baselines import host_heap
from .inputs import work_of
from .reference import reference

MOST_RANKS = 256
MOST_DEPTH = 126
MOST_NODES = 1 << 16
BUILT_LANES = 256
"""Lanes that the table of builds is made for."""


@triton.jit
def tie_of(depth, rank, node):
    """Greatest for the least depth, then the least rank and node."""
    return (127 - depth) * 16777216 + (255 - rank) * 65536 + (65535 - node)


@triton.jit(do_not_specialize=["nodes", "depths", "ranks"])
def tree_best_first_expand(
    logprob_ptr,
    parent_ptr,
    rank_ptr,
    depth_ptr,
    score_ptr,
    bits_ptr,
    nodes,
    depths,
    ranks,
    words,
    LANES: tl.constexpr,
    WORDS: tl.constexpr,
):
    """Expand a request's tree; grid (batch,)."""
    request = tl.program_id(0).to(tl.int64)
    node = tl.arange(0, LANES)
    rows = logprob_ptr + request * depths * ranks
    score = tl.where(node == 0, 0.0, float("-inf"))
    parent = tl.full([LANES], -1, tl.int32)
    rank = tl.full([LANES], -1, tl.int32)
    depth = tl.zeros([LANES], tl.int32)
    first = node == 0
    order = tl.where(first, ordered((score + tl.load(rows)).to(tl.int32, bitcast=True)), LOWEST)
    tie = tl.where(first, tie_of(1, 0, node), 0)
    for new in range(1, nodes):
        best = tl.max(order, axis=0)
        if best != LOWEST:
            winner = tl.max(tl.where(order == best, tie, 0), axis=0)
            above = 65535 - (winner & 0xFFFF)
            which = 255 - ((winner >> 16) & 0xFF)
            level = 127 - (winner >> 24)
            worth = ordered(best).to(tl.float32, bitcast=True)
            place = rows + (level - 1) * ranks + which
            sibling = tl.load(place + 1, mask=which + 1 < ranks, other=0.0)
            child = tl.load(rows + level * ranks, mask=level < depths, other=0.0)
            next_order = ordered((score + sibling).to(tl.int32, bitcast=True))
            next_order = tl.where(which + 1 < ranks, next_order, LOWEST)
            child_order = tl.where(level < depths, ordered((worth + child).to(tl.int32, bitcast=True)), LOWEST)
            here, there = node == new, node == above
            order = tl.where(there, next_order, tl.where(here, child_order, order))
            tie = tl.where(there, tie_of(level, which + 1, node), tl.where(here, tie_of(level + 1, 0, node), tie))
            score = tl.where(here, worth, score)
            parent = tl.where(here, above, parent)
            rank = tl.where(here, which, rank)
            depth = tl.where(here, level, depth)
    base = request * nodes
    real = node < nodes
    tl.store(parent_ptr + base + node, parent, mask=real)
    tl.store(rank_ptr + base + node, rank, mask=real)
    tl.store(depth_ptr + base + node, depth, mask=real)
    tl.store(score_ptr + base + node, score, mask=real)
    tl.debug_barrier()  # parents are read by other lanes
    store_ancestors(parent_ptr, bits_ptr, base, nodes, node, words, tl.max(depth, axis=0), LANES, WORDS)


def expand(work: Work, _config: Axes) -> None:
    """Queue the launch.

    Raises:
        ValueError: an integer cannot hold so many positions, ranks or nodes.
    """
    logprob, parent = work.inputs["logprob"], work.outputs["parent"]
    batch, depths, ranks = logprob.shape
    nodes = parent.shape[1]
    if ranks > MOST_RANKS or depths > MOST_DEPTH or nodes > MOST_NODES:
        raise ValueError(f"{depths} positions of {ranks} ranks and {nodes} nodes are more than an integer holds")
    lanes = node_lanes(nodes)
    tree_best_first_expand[(batch,)](
        logprob,
        parent,
        work.outputs["rank"],
        work.outputs["depth"],
        work.outputs["score"],
        work.outputs["ancestors"],
        nodes,
        depths,
        ranks,
        words_for(nodes),
        LANES=lanes,
        WORDS=triton.next_power_of_2(words_for(nodes)),
        num_warps=_warps(lanes),
    )


def _warps(lanes: int) -> int:
    """One, so that nothing is waited for at a barrier, until the lanes are many."""
    return 1 if lanes <= 256 else 4


def compare(work: Work) -> str:
    """The very same trees."""
    return compare_exactly(work.outputs, reference(work.inputs["logprob"], work.outputs["parent"].shape[1]))


def note(work: Work) -> str:
    """What the trees of this data are like."""
    depth = work.outputs["depth"].amax(1).float().mean().item()
    return f"depth of the trees: {depth:.1f}"


def builds() -> tuple[Build, ...]:
    """For many nodes."""
    pointers = {f"{name}_ptr": "*i32" for name in ("parent", "rank", "depth", "bits")}
    types = pointers | {"logprob_ptr": "*fp32", "score_ptr": "*fp32"}
    types |= dict.fromkeys(("nodes", "depths", "ranks", "words"), "i32")
    constants = {"LANES": BUILT_LANES, "WORDS": BUILT_LANES // 32}
    return (Build("expand", tree_best_first_expand, types, constants, frozenset(), _warps(BUILT_LANES)),)


OP = Op(
    work=work_of,
    compare=compare,
    variants={
        "expand": Variant(expand),
        "host_heap": Variant(host_heap, checked=lambda axes: axes.get("values") != "raw", captured=False),
    },
    bytes_of=spec.bytes_of,
    in_cache=lambda _axes: True,
    point=lambda _axes: True,
    note=note,
    builds=builds,
)
