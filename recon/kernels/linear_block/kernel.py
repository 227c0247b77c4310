"""The Triton claim about the reference: masses of all rows, shares, what each beginning leaves, then the choice.

Four kinds of launches, each reading what the one before wrote: nothing waits inside of one.
"""

import triton
import triton.language as tl

from ..builds import NODES, VOCAB, build
from ..chain import chance_at, end_chain, store_left, totals_of
from ..judge import judge
from ..masses import BLOCK, WARPS, block_lanes, blocks_of, configs
from ..op import Build, Op, Variant, Work
from ..row_mass import scale_of
from ..slices import node_lanes
from ..tree_target_only.kernel import all_masses
from ..wire import Axes
from . import spec
from .baselines import eager
from .inputs import work_of
from .reference import reference


@triton.jit(do_not_specialize=["batch", "nodes", "blocks"])
def block_shares(
    logits_ptr,
    draft_ptr,
    token_ptr,
    temperature_ptr,
    tops_ptr,
    masses_ptr,
    draft_tops_ptr,
    draft_masses_ptr,
    share_ptr,
    batch,
    nodes,
    blocks,
    stride_b,
    stride_n,
    stride_v,
    draft_b,
    draft_n,
    draft_v,
    REQUESTS: tl.constexpr,
    BLOCKS: tl.constexpr,
):
    """Share [B, N] of each beginning of each chain; grid (ceil(batch / REQUESTS),)."""
    request = tl.program_id(0) * REQUESTS + tl.arange(0, REQUESTS)
    real = request < batch
    base = request.to(tl.int64) * nodes
    scale = scale_of(temperature_ptr, request, real)
    share = tl.full(real.shape, 1.0, tl.float32)
    tl.store(share_ptr + base, share, mask=real)
    for here in range(nodes - 1):
        x = tl.load(token_ptr + base + here + 1, mask=real, other=0)
        p_ptr = logits_ptr + request.to(tl.int64) * stride_b + here * stride_n
        q_ptr = draft_ptr + request.to(tl.int64) * draft_b + here * draft_n
        p_peak, p_total = totals_of(tops_ptr, masses_ptr, base + here, real, blocks, BLOCKS)
        q_peak, q_total = totals_of(draft_tops_ptr, draft_masses_ptr, base + here, real, blocks, BLOCKS)
        p = chance_at(p_ptr, x, real, stride_v, scale, p_peak, p_total)
        q = chance_at(q_ptr, x, real, draft_v, scale, q_peak, q_total)
        ratio = tl.where(q > 0.0, p / tl.where(q > 0.0, q, 1.0), (p > 0.0).to(tl.float32))
        share = tl.minimum(share * ratio, 1.0)
        tl.store(share_ptr + base + here + 1, share, mask=real)


@triton.jit(do_not_specialize=["rows", "nodes", "blocks", "each", "splits"])
def block_left(
    logits_ptr,
    draft_ptr,
    temperature_ptr,
    tops_ptr,
    masses_ptr,
    draft_tops_ptr,
    draft_masses_ptr,
    share_ptr,
    left_ptr,
    rows,
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
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
    BLOCKS: tl.constexpr,
):
    """What each beginning leaves in each block of its row; grid (ceil(rows / ROWS) * splits,)."""
    program = tl.program_id(0)
    group = program // splits
    row = group * ROWS + tl.arange(0, ROWS)
    real = row < rows
    request = row // nodes
    here = row - request * nodes
    scale = scale_of(temperature_ptr, request, real)
    keep = tl.load(share_ptr + row, mask=real, other=0.0)
    less = tl.where(here == nodes - 1, 0.0, 1.0)  # behind the whole chain the target alone
    keep = tl.where(here == nodes - 1, 1.0, keep)
    p_ptr = logits_ptr + request.to(tl.int64) * stride_b + here.to(tl.int64) * stride_n
    q_ptr = draft_ptr + request.to(tl.int64) * draft_b + here.to(tl.int64) * draft_n
    p_peak, p_total = totals_of(tops_ptr, masses_ptr, row, real, blocks, BLOCKS)
    q_peak, q_total = totals_of(draft_tops_ptr, draft_masses_ptr, row, real, blocks, BLOCKS)
    first = (program - group * splits) * each
    store_left(
        left_ptr,
        row.to(tl.int64) * blocks,
        first,
        tl.minimum(first + each, blocks),
        p_ptr,
        q_ptr,
        real,
        stride_v,
        draft_v,
        scale,
        p_peak,
        p_total,
        q_peak,
        q_total,
        keep,
        less,
        vocab,
        BLOCK,
    )


@triton.jit(do_not_specialize=["batch", "nodes", "blocks"])
def block_choice(
    logits_ptr,
    draft_ptr,
    token_ptr,
    coin_ptr,
    last_ptr,
    temperature_ptr,
    tops_ptr,
    masses_ptr,
    draft_tops_ptr,
    draft_masses_ptr,
    share_ptr,
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
    """The longest beginning that stands, and the token after it; grid (ceil(batch / REQUESTS),)."""
    request = tl.program_id(0) * REQUESTS + tl.arange(0, REQUESTS)
    real = request < batch
    base = request.to(tl.int64) * nodes
    lane = tl.arange(0, BLOCKS)[None, :]
    held = real[:, None] & (lane < blocks)
    steps = tl.zeros(real.shape, tl.int32)
    for here in range(1, nodes):
        left = tl.load(left_ptr + (base + here)[:, None] * blocks + lane, mask=held, other=0.0)
        left = tl.sum(left, axis=1)
        share = tl.load(share_ptr + base + here, mask=real, other=0.0)
        coin = tl.load(coin_ptr + base + here - 1, mask=real, other=1.0)
        inside = (share >= 1.0) | (coin * (left + 1.0 - share) < left)
        stands = tl.where(here == nodes - 1, coin < share, inside)
        steps = tl.where(stands, here, steps)
    whole = steps == nodes - 1
    less = tl.where(whole, 0.0, 1.0)
    keep = tl.where(whole, 1.0, tl.load(share_ptr + base + steps, mask=real, other=0.0))
    sums = tl.load(left_ptr + (base + steps)[:, None] * blocks + lane, mask=held, other=0.0)
    p_ptr = logits_ptr + request.to(tl.int64) * stride_b + steps.to(tl.int64) * stride_n
    q_ptr = draft_ptr + request.to(tl.int64) * draft_b + steps.to(tl.int64) * draft_n
    p_peak, p_total = totals_of(tops_ptr, masses_ptr, base + steps, real, blocks, BLOCKS)
    q_peak, q_total = totals_of(draft_tops_ptr, draft_masses_ptr, base + steps, real, blocks, BLOCKS)
    scale = scale_of(temperature_ptr, request, real)
    end_chain(
        token_ptr,
        emitted_ptr,
        accepted_ptr,
        request,
        real,
        nodes,
        steps,
        tl.load(last_ptr + request, mask=real, other=0.0),
        p_ptr,
        q_ptr,
        stride_v,
        draft_v,
        scale,
        p_peak,
        p_total,
        q_peak,
        q_total,
        keep,
        less,
        sums,
        vocab,
        NODES,
        BLOCK,
        BLOCKS,
    )


def fused(work: Work, config: Axes) -> None:
    """Queue the masses of target and drafter, the shares, what is left, and the choice."""
    all_masses(work, config)
    all_masses(work, config, "draft", "draft_")
    inputs, scratch = work.inputs, work.scratch
    logits, draft = inputs["logits"], inputs["draft"]
    block, each, requests = (int(config[name]) for name in ("block", "each", "requests"))
    batch, nodes, vocab = logits.shape
    blocks, lanes, rows = blocks_of(vocab, block), int(config["lanes"]), batch * nodes
    splits, groups = -(-blocks // each), -(-batch // requests)
    kept = [scratch[name] for name in ("tops", "masses", "draft_tops", "draft_masses", "share")]
    strides = (*logits.stride(), *draft.stride())
    block_shares[(groups,)](
        logits,
        draft,
        inputs["token"],
        inputs["temperature"],
        *kept,
        batch,
        nodes,
        blocks,
        *strides,
        REQUESTS=requests,
        BLOCKS=lanes,
        num_warps=WARPS,
    )
    block_left[(-(-rows // requests) * splits,)](
        logits,
        draft,
        inputs["temperature"],
        *kept,
        scratch["left"],
        rows,
        nodes,
        vocab,
        blocks,
        each,
        splits,
        *strides,
        ROWS=requests,
        BLOCK=block,
        BLOCKS=lanes,
        num_warps=WARPS,
    )
    block_choice[(groups,)](
        logits,
        draft,
        *(inputs[name] for name in ("token", "coin", "last", "temperature")),
        *kept,
        scratch["left"],
        work.outputs["emitted"],
        work.outputs["accepted"],
        batch,
        nodes,
        vocab,
        blocks,
        *strides,
        REQUESTS=requests,
        NODES=node_lanes(nodes),
        BLOCK=block,
        BLOCKS=lanes,
        num_warps=WARPS,
    )


def compare(work: Work) -> str:
    """First answer that neither the reference gives nor rounding excuses."""
    return judge(work.outputs, work.inputs, reference(**work.inputs))


def note(work: Work) -> str:
    """What the choice of this data is like."""
    accepted = work.outputs["accepted"].float().mean().item()
    return f"accepted drafts per request: {accepted:.2f}"


def builds() -> tuple[Build, ...]:
    """Each launch of its own in the configuration that is chosen for most cases."""
    lanes = block_lanes(VOCAB)
    return (
        build("fused", block_shares, WARPS, REQUESTS=1, BLOCKS=lanes),
        build("fused", block_left, WARPS, ROWS=1, BLOCK=BLOCK, BLOCKS=lanes),
        build("fused", block_choice, WARPS, REQUESTS=1, NODES=NODES, BLOCK=BLOCK, BLOCKS=lanes),
    )


OP = Op(
    work=work_of,
    compare=compare,
    variants={"fused": Variant(fused, configs), "eager": Variant(eager)},
    bytes_of=spec.bytes_of,
    note=note,
    builds=builds,
)
