"""What an engine without such a kernel does: the softmax of every row written down, then a walk over it."""

from collections.abc import Callable

import torch
import triton
import triton.language as tl

from ..compiled import Function, compiled
from ..op import Work
from ..slices import node_lanes
from ..wire import Axes

BLOCK = 4096
"""Elements of a row that the walk's one program takes at once."""


@triton.jit(do_not_specialize=["nodes"])
def walk_probabilities(
    probs_ptr,
    token_ptr,
    parent_ptr,
    coin_ptr,
    last_ptr,
    path_ptr,
    emitted_ptr,
    accepted_ptr,
    nodes,
    vocab,
    NODES: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Walk one tree on probabilities [B, N, V], in which it strikes out what it tried; grid (batch,)."""
    request = tl.program_id(0)
    base = request.to(tl.int64) * nodes
    node = tl.arange(0, NODES)
    real = node < nodes
    token = tl.load(token_ptr + base + node, mask=real, other=0)
    parent = tl.load(parent_ptr + base + node, mask=real, other=-1)
    tl.store(path_ptr + base + node, tl.where(node == 0, 0, -1), mask=real)
    tl.store(emitted_ptr + base + node, tl.full([NODES], -1, tl.int64), mask=real)
    tl.debug_barrier()
    steps = 0
    here = 0
    child = 0
    while child < NODES:
        here = child
        children = real & (parent == here) & (parent < node)
        row = probs_ptr + (base + here) * vocab
        chance = tl.load(row + token, mask=children, other=0.0)
        coin = tl.load(coin_ptr + base + here)
        child = tl.min(tl.where(children & (chance > 0.0) & (coin < tl.cumsum(chance, axis=0)), node, NODES), axis=0)
        if child < NODES:
            tl.store(emitted_ptr + base + steps, tl.sum(tl.where(node == child, token, 0), axis=0))
            steps += 1
            tl.store(path_ptr + base + steps, child)
    children = real & (parent == here) & (parent < node)
    row = probs_ptr + (base + here) * vocab
    tl.store(row + token, tl.zeros([NODES], tl.float32), mask=children)
    tl.debug_barrier()
    lane = tl.arange(0, BLOCK)
    sums = tl.zeros([BLOCK], tl.float32)
    for start in range(0, vocab, BLOCK):
        sums += tl.load(row + start + lane, mask=start + lane < vocab, other=0.0)
    point = tl.load(last_ptr + request) * tl.sum(sums, axis=0)
    chosen = vocab
    some = -1
    before = 0.0
    start = 0
    while (start < vocab) & (chosen == vocab):
        weight = tl.load(row + start + lane, mask=start + lane < vocab, other=0.0)
        run = before + tl.cumsum(weight, axis=0)
        chosen = tl.min(tl.where((weight > 0.0) & (run > point), start + lane, vocab), axis=0)
        some = tl.maximum(some, tl.max(tl.where(weight > 0.0, start + lane, -1), axis=0))
        before += tl.sum(weight, axis=0)
        start += BLOCK
    chosen = tl.where(chosen < vocab, chosen, some)
    tl.store(emitted_ptr + base + steps, chosen.to(tl.int64))
    tl.store(accepted_ptr + request, steps)


def probabilities(logits: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    """Softmax float32 [B, N, V]."""
    return torch.softmax(logits / temperature[:, None, None], dim=-1, dtype=torch.float32)


def plain_probabilities(logits: torch.Tensor) -> torch.Tensor:
    """Likewise at temperature 1, without a pass for it."""
    return torch.softmax(logits, dim=-1, dtype=torch.float32)


def softmax_walk(work: Work, _config: Axes) -> None:
    """Queue torch's softmax, then the walk."""
    _walk(work, _probabilities(work, lambda function: function))


def compiled_walk(work: Work, _config: Axes) -> None:
    """Likewise with the softmax that torch.compile makes."""
    _walk(work, _probabilities(work, compiled))


def _probabilities(work: Work, way: Callable[[Function], Function]) -> torch.Tensor:
    logits = work.inputs["logits"]
    if work.axes.get("temperature") == 1:
        return way(plain_probabilities)(logits)
    return way(probabilities)(logits, work.inputs["temperature"])


def _walk(work: Work, probs: torch.Tensor) -> None:
    batch, nodes, vocab = probs.shape
    walk_probabilities[(batch,)](
        probs,
        *(work.inputs[name] for name in ("token", "parent", "coin", "last")),
        *(work.outputs[name] for name in ("path", "emitted", "accepted")),
        nodes,
        vocab,
        NODES=node_lanes(nodes),
        BLOCK=BLOCK,
        num_warps=8,
    )


def eager(work: Work, _config: Axes) -> None:
    """Queue the whole rule in torch's own operations, level by level, without asking the GPU for anything."""
    token, parent = work.inputs["token"], work.inputs["parent"]
    path, emitted, accepted = (work.outputs[name] for name in ("path", "emitted", "accepted"))
    batch, nodes = token.shape
    probs = probabilities(work.inputs["logits"], work.inputs["temperature"])
    node, request = torch.arange(nodes, device=token.device), torch.arange(batch, device=token.device)
    path.fill_(-1)
    emitted.fill_(-1)
    accepted.zero_()
    path[:, 0] = 0
    here = torch.zeros(batch, dtype=torch.int64, device=token.device)
    going = torch.ones(batch, dtype=torch.bool, device=token.device)
    for level in range(1, min(len(work.scratch["here"]), nodes)):
        row = probs[request, here]  # [B, V]
        children = (parent == here[:, None]) & (parent < node)
        chance = torch.where(children, row.gather(1, token), 0.0)
        taken = children & (chance > 0) & (work.inputs["coin"].gather(1, here[:, None]) < chance.cumsum(1))
        child = taken.to(torch.int8).argmax(1)
        going = going & taken.any(1)
        here = torch.where(going, child, here)
        path[:, level] = torch.where(going, child, -1).to(torch.int32)
        emitted[:, level - 1] = torch.where(going, token.gather(1, child[:, None])[:, 0], -1)
        accepted += going
    children = (parent == here[:, None]) & (parent < node)
    rest = probs[request, here]
    # What is no child strikes out a column of its own.
    rest = torch.cat([rest, rest.new_zeros(batch, 1)], 1)
    rest.scatter_(1, torch.where(children, token, rest.shape[1] - 1), 0.0)
    run = rest.cumsum(1, dtype=torch.float64)
    point = work.inputs["last"].double() * run[:, -1]
    bonus = torch.searchsorted(run, point[:, None], right=True).clamp(max=rest.shape[1] - 2)
    emitted.scatter_(1, accepted[:, None].long(), bonus)
