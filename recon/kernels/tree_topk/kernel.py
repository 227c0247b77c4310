"""The Triton claim about the reference: a launch for each step, and one that chooses among all.

A drafter works between the steps, so they cannot be one launch. The last one finds the sum that just suffices bit by
bit, 32 counts whatever the number of candidates, instead of sorting them: nodes are wanted in the order of candidates.
"""

import triton
import triton.language as tl

from ..building import LOWEST, ordered, store_ancestors, words_for
from ..card import Card
from ..op import Build, Op, Variant, Work, compare_exactly
from ..slices import node_lanes
from ..wire import Axes
from . import spec
from .baselines import host, operations
from .inputs import work_of
from .reference import reference


@triton.jit(do_not_specialize=["step", "steps", "candidates"])
def tree_topk_step(logprob_ptr, score_ptr, above_ptr, kept_ptr, step, steps, topk, candidates, LANES: tl.constexpr):
    """Look at the tokens of one step and keep the best prefixes; grid (batch,)."""
    request = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, LANES)
    real = lane < tl.where(step == 0, topk, topk * topk)
    row = lane // topk
    kept = kept_ptr + request * steps * topk
    scores = score_ptr + request * candidates
    value = tl.load(logprob_ptr + (request * steps + step) * topk * topk + lane, mask=real, other=0.0)
    prefix = tl.load(kept + (step - 1) * topk + row, mask=real & (row < step * topk), other=-1)
    value += tl.load(scores + prefix, mask=prefix >= 0, other=0.0)
    begin = tl.where(step == 0, 0, topk + (step - 1) * topk * topk)
    tl.store(scores + begin + lane, value, mask=real)
    tl.store(above_ptr + request * candidates + begin + lane, prefix, mask=real)
    order = tl.where(real, ordered(value.to(tl.int32, bitcast=True)), LOWEST)
    for place in range(topk):
        best = tl.max(order, axis=0)
        first = tl.min(tl.where(order == best, lane, LANES), axis=0)
        tl.store(kept + step * topk + place, begin + first)
        order = tl.where(lane == first, LOWEST, order)


@triton.jit(do_not_specialize=["nodes", "candidates"])
def tree_topk_choose(
    score_ptr,
    above_ptr,
    node_of_ptr,
    candidate_ptr,
    parent_ptr,
    depth_ptr,
    bits_ptr,
    nodes,
    topk,
    candidates,
    words,
    steps,
    MOST: tl.constexpr,
    LANES: tl.constexpr,
    WORDS: tl.constexpr,
):
    """Choose the best of all candidates and make a tree of them; grid (batch,)."""
    request = tl.program_id(0).to(tl.int64)
    lane = tl.arange(0, MOST)
    real = lane < candidates
    value = tl.load(score_ptr + request * candidates + lane, mask=real, other=0.0)
    above = tl.load(above_ptr + request * candidates + lane, mask=real, other=-1)
    order = tl.where(real, ordered(value.to(tl.int32, bitcast=True)), LOWEST)
    wanted = tl.minimum(nodes - 1, candidates)
    # The greatest sum that so many candidates reach, from its sign to its last bit.
    least = tl.where(tl.sum((order >= 0).to(tl.int32)) >= wanted, 0, LOWEST)
    for bit in range(31):
        higher = least + (tl.full([], 1, tl.int32) << (30 - bit))
        least = tl.where(tl.sum((order >= higher).to(tl.int32)) >= wanted, higher, least)
    over = real & (order > least)
    level = real & (order == least)
    spare = wanted - tl.sum(over.to(tl.int32))
    chosen = over | (level & (tl.cumsum(level.to(tl.int32), axis=0) <= spare))
    number = tl.cumsum(chosen.to(tl.int32), axis=0)
    node_of = node_of_ptr + request * candidates
    tl.store(node_of + lane, number, mask=chosen)
    base = request * nodes
    node = tl.arange(0, LANES)
    padding = (node < nodes) & ((node > wanted) | (node == 0))
    tl.store(candidate_ptr + base + node, -1, mask=padding)
    tl.store(parent_ptr + base + node, -1, mask=padding)
    tl.store(depth_ptr + base + node, 0, mask=padding)
    tl.debug_barrier()  # numbers are read by other lanes
    tl.store(candidate_ptr + base + number, lane, mask=chosen)
    parent = tl.load(node_of + above, mask=chosen & (above >= 0), other=0)
    tl.store(parent_ptr + base + number, parent, mask=chosen)
    depth = tl.where(lane < topk, 1, 2 + (lane - topk) // (topk * topk))
    tl.store(depth_ptr + base + number, depth, mask=chosen)
    tl.debug_barrier()  # and so are parents
    store_ancestors(parent_ptr, bits_ptr, base, nodes, node, words, steps, LANES, WORDS)


def steps(work: Work, config: Axes) -> None:
    """Queue a launch for each step, and the last choice."""
    logprob, scratch, outputs = work.inputs["logprob"], work.scratch, work.outputs
    batch, many, topk, _ = logprob.shape
    candidates, nodes = scratch["score"].shape[1], outputs["parent"].shape[1]
    for step in range(many):
        tree_topk_step[(batch,)](
            logprob,
            scratch["score"],
            scratch["above"],
            scratch["kept"],
            step,
            many,
            topk,
            candidates,
            LANES=triton.next_power_of_2(topk * topk),
            num_warps=1,
        )
    tree_topk_choose[(batch,)](
        scratch["score"],
        scratch["above"],
        scratch["node_of"],
        outputs["candidate"],
        outputs["parent"],
        outputs["depth"],
        outputs["ancestors"],
        nodes,
        topk,
        candidates,
        words_for(nodes),
        many,
        MOST=triton.next_power_of_2(candidates),
        LANES=node_lanes(nodes),
        WORDS=triton.next_power_of_2(words_for(nodes)),
        num_warps=int(config["warps"]),
    )


CONFIGS: tuple[Axes, ...] = ({"warps": 1}, {"warps": 4})


def configs(_axes: Axes, _card: Card) -> tuple[Axes, ...]:
    """One warp for the last choice, so that nothing is waited for at a barrier, or several."""
    return CONFIGS


def compare(work: Work) -> str:
    """The very same trees."""
    return compare_exactly(work.outputs, reference(work.inputs["logprob"], work.outputs["parent"].shape[1]))


def note(work: Work) -> str:
    """What the trees of this data are like."""
    depth = work.outputs["depth"].amax(1).float().mean().item()
    return f"depth of the trees: {depth:.1f}; the drafter's own passes between the steps are left out"


def builds() -> tuple[Build, ...]:
    """A step of 8 prefixes, and the choice among those of 6 steps."""
    names = ("above", "kept", "node_of", "candidate", "parent", "depth", "bits")
    pointers = {f"{name}_ptr": "*i32" for name in names} | {"logprob_ptr": "*fp32", "score_ptr": "*fp32"}
    integers = dict.fromkeys(("step", "steps", "topk", "candidates", "nodes", "words"), "i32")
    made = []
    for function, constants, warps in (
        (tree_topk_step, {"LANES": 64}, 1),
        (tree_topk_choose, {"MOST": 512, "LANES": 64, "WORDS": 2}, 4),
    ):
        types = {name: kind for name, kind in (pointers | integers).items() if name in function.arg_names}
        made.append(Build("steps", function, types, constants, frozenset(), warps))
    return tuple(made)


OP = Op(
    work=work_of,
    compare=compare,
    variants={
        "steps": Variant(steps, configs),
        "torch": Variant(operations),
        "host": Variant(host, checked=lambda axes: axes.get("values") != "raw", captured=False),
    },
    bytes_of=spec.bytes_of,
    in_cache=lambda _axes: True,
    point=lambda _axes: True,
    note=note,
    builds=builds,
)
