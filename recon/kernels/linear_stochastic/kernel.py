"""The Triton claim about the reference: each position decides alone, and the first that does not stand ends the chain.

With the drafter's logits five launches, each reading what the one before wrote: the masses of both models, which drafts
stand, what is left of the one row that ended each chain, and the draw from it. Without them a chain is a tree with one
branch, and the walk is the target-only kernel's.
"""

import triton
import triton.language as tl

from ..builds import NODES, VOCAB, build
from ..chain import chance_at, end_chain, store_left, totals_of
from ..compiled import plain
from ..judge import judge
from ..masses import BLOCK, WARPS, block_lanes, blocks_of, configs
from ..op import Build, Op, Variant, Work
from ..row_mass import scale_of
from ..slices import node_lanes
from ..tree_target_only.kernel import all_masses, walk
from ..wire import Axes
from . import spec
from .baselines import compiled_softmax, eager
from .inputs import work_of
from .reference import reference


@triton.jit(do_not_specialize=["rows", "nodes", "blocks"])
def chain_stands(
    logits_ptr,
    draft_ptr,
    token_ptr,
    coin_ptr,
    temperature_ptr,
    tops_ptr,
    masses_ptr,
    draft_tops_ptr,
    draft_masses_ptr,
    stands_ptr,
    rows,
    nodes,
    blocks,
    stride_b,
    stride_n,
    stride_v,
    draft_b,
    draft_n,
    draft_v,
    ROWS: tl.constexpr,
    BLOCKS: tl.constexpr,
):
    """Whether the draft after each position stands, were all before it accepted; grid (ceil(rows / ROWS),)."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    request = row // nodes
    here = row - request * nodes
    real = row < rows
    follows = real & (here + 1 < nodes)
    scale = scale_of(temperature_ptr, request, real)
    x = tl.load(token_ptr + row + 1, mask=follows, other=0)
    coin = tl.load(coin_ptr + row, mask=follows, other=1.0)
    p_ptr = logits_ptr + request.to(tl.int64) * stride_b + here.to(tl.int64) * stride_n
    q_ptr = draft_ptr + request.to(tl.int64) * draft_b + here.to(tl.int64) * draft_n
    p_peak, p_total = totals_of(tops_ptr, masses_ptr, row, real, blocks, BLOCKS)
    q_peak, q_total = totals_of(draft_tops_ptr, draft_masses_ptr, row, real, blocks, BLOCKS)
    p = chance_at(p_ptr, x, follows, stride_v, scale, p_peak, p_total)
    q = chance_at(q_ptr, x, follows, draft_v, scale, q_peak, q_total)
    tl.store(stands_ptr + row, (follows & (coin * q < p)).to(tl.int32), mask=real)


@triton.jit
def steps_of(stands_ptr, request, real, nodes, NODES: tl.constexpr):
    """Drafts accepted [R]: those before the first that does not stand. Nothing follows the last position."""
    node = tl.arange(0, NODES)[None, :]
    place = request.to(tl.int64)[:, None] * nodes + node
    stands = tl.load(stands_ptr + place, mask=real[:, None] & (node < nodes), other=0)
    return tl.min(tl.where(stands != 0, NODES, node), axis=1)


@triton.jit(do_not_specialize=["batch", "nodes", "blocks", "each", "splits"])
def chain_left(
    logits_ptr,
    draft_ptr,
    temperature_ptr,
    tops_ptr,
    masses_ptr,
    draft_tops_ptr,
    draft_masses_ptr,
    stands_ptr,
    left_ptr,
    batch,
    nodes,
    vocab,
    blocks,
    each,
    splits,
    stride_b,
    stride_n,
    stride_v,
    draft_b,
    draft_n,
    draft_v,
    REQUESTS: tl.constexpr,
    NODES: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCKS: tl.constexpr,
):
    """What each block of the row that ended each chain has left; grid (ceil(batch / REQUESTS) * splits,)."""
    program = tl.program_id(0)
    group = program // splits
    request = group * REQUESTS + tl.arange(0, REQUESTS)
    real = request < batch
    steps = steps_of(stands_ptr, request, real, nodes, NODES)
    row = request * nodes + steps
    p_peak, p_total = totals_of(tops_ptr, masses_ptr, row, real, blocks, BLOCKS)
    q_peak, q_total = totals_of(draft_tops_ptr, draft_masses_ptr, row, real, blocks, BLOCKS)
    first = (program - group * splits) * each
    store_left(
        left_ptr,
        request.to(tl.int64) * blocks,
        first,
        tl.minimum(first + each, blocks),
        logits_ptr + request.to(tl.int64) * stride_b + steps.to(tl.int64) * stride_n,
        draft_ptr + request.to(tl.int64) * draft_b + steps.to(tl.int64) * draft_n,
        real,
        stride_v,
        draft_v,
        scale_of(temperature_ptr, request, real),
        p_peak,
        p_total,
        q_peak,
        q_total,
        tl.full(real.shape, 1.0, tl.float32),
        tl.where(steps == nodes - 1, 0.0, 1.0),  # behind the whole chain the target alone
        vocab,
        BLOCK,
    )


@triton.jit(do_not_specialize=["batch", "nodes", "blocks"])
def chain_end(
    logits_ptr,
    draft_ptr,
    token_ptr,
    last_ptr,
    temperature_ptr,
    tops_ptr,
    masses_ptr,
    draft_tops_ptr,
    draft_masses_ptr,
    stands_ptr,
    left_ptr,
    emitted_ptr,
    accepted_ptr,
    batch,
    nodes,
    vocab,
    blocks,
    stride_b,
    stride_n,
    stride_v,
    draft_b,
    draft_n,
    draft_v,
    REQUESTS: tl.constexpr,
    NODES: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCKS: tl.constexpr,
):
    """The drafts accepted and the token after them; grid (ceil(batch / REQUESTS),)."""
    request = tl.program_id(0) * REQUESTS + tl.arange(0, REQUESTS)
    real = request < batch
    steps = steps_of(stands_ptr, request, real, nodes, NODES)
    row = request * nodes + steps
    lane = tl.arange(0, BLOCKS)[None, :]
    held = real[:, None] & (lane < blocks)
    sums = tl.load(left_ptr + request.to(tl.int64)[:, None] * blocks + lane, mask=held, other=0.0)
    p_peak, p_total = totals_of(tops_ptr, masses_ptr, row, real, blocks, BLOCKS)
    q_peak, q_total = totals_of(draft_tops_ptr, draft_masses_ptr, row, real, blocks, BLOCKS)
    end_chain(
        token_ptr,
        emitted_ptr,
        accepted_ptr,
        request,
        real,
        nodes,
        steps,
        tl.load(last_ptr + request, mask=real, other=0.0),
        logits_ptr + request.to(tl.int64) * stride_b + steps.to(tl.int64) * stride_n,
        draft_ptr + request.to(tl.int64) * draft_b + steps.to(tl.int64) * draft_n,
        stride_v,
        draft_v,
        scale_of(temperature_ptr, request, real),
        p_peak,
        p_total,
        q_peak,
        q_total,
        tl.full(real.shape, 1.0, tl.float32),
        tl.where(steps == nodes - 1, 0.0, 1.0),
        sums,
        vocab,
        NODES,
        BLOCK,
        BLOCKS,
    )


def fused(work: Work, config: Axes) -> None:
    """Queue the masses of all rows, then which drafts stand, what is left and the draw, or the target-only walk."""
    all_masses(work, config)
    if "draft" in work.inputs:
        all_masses(work, config, "draft", "draft_")
        _chains(work, config)
    else:
        walk(work, config, parent=work.scratch["parent"], path=work.scratch["path"])


def _chains(work: Work, config: Axes) -> None:
    """Queue the three launches behind the masses."""
    inputs, scratch = work.inputs, work.scratch
    logits, draft, temperature = inputs["logits"], inputs["draft"], inputs["temperature"]
    block, requests, lanes = (int(config[name]) for name in ("block", "requests", "lanes"))
    batch, nodes, vocab = logits.shape
    blocks, groups = blocks_of(vocab, block), -(-batch // requests)
    each = -(-int(config["each"]) // nodes)  # one row of a chain is read again
    splits = -(-blocks // each)
    kept = [scratch[name] for name in ("tops", "masses", "draft_tops", "draft_masses", "stands")]
    strides = (*logits.stride(), *draft.stride())
    shape = {"REQUESTS": requests, "NODES": node_lanes(nodes), "BLOCK": block, "BLOCKS": lanes, "num_warps": WARPS}
    chain_stands[(-(-batch * nodes // requests),)](
        logits,
        draft,
        *(inputs[name] for name in ("token", "coin", "temperature")),
        *kept,
        batch * nodes,
        nodes,
        blocks,
        *strides,
        ROWS=requests,
        BLOCKS=lanes,
        num_warps=1,
    )
    chain_left[(groups * splits,)](
        logits,
        draft,
        temperature,
        *kept,
        scratch["left"],
        batch,
        nodes,
        vocab,
        blocks,
        each,
        splits,
        *strides,
        **shape,
    )
    chain_end[(groups,)](
        logits,
        draft,
        *(inputs[name] for name in ("token", "last", "temperature")),
        *kept,
        scratch["left"],
        work.outputs["emitted"],
        work.outputs["accepted"],
        batch,
        nodes,
        vocab,
        blocks,
        *strides,
        **shape,
    )


def compare(work: Work) -> str:
    """First answer that neither the reference gives nor rounding excuses."""
    return judge(work.outputs, work.inputs, reference(**work.inputs))


def note(work: Work) -> str:
    """What the walk of this data is like."""
    accepted = work.outputs["accepted"].float().mean().item()
    return f"accepted drafts per request: {accepted:.2f}"


def builds() -> tuple[Build, ...]:
    """Each launch behind the masses, with the drafter's logits; without them all are the target-only kernel's."""
    lanes = block_lanes(VOCAB)
    whole = {"REQUESTS": 1, "NODES": NODES, "BLOCK": BLOCK, "BLOCKS": lanes}
    return (
        build("fused", chain_stands, 1, ROWS=1, BLOCKS=lanes),
        build("fused", chain_left, WARPS, **whole),
        build("fused", chain_end, WARPS, **whole),
    )


OP = Op(
    work=work_of,
    compare=compare,
    variants={
        "fused": Variant(fused, configs),
        "compiled": Variant(compiled_softmax, checked=plain),
        "eager": Variant(eager),
    },
    bytes_of=spec.bytes_of,
    note=note,
    builds=builds,
)
