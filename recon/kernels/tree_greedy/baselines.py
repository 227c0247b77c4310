"""What an engine without such a kernel does: the argmax of every row, then a walk."""

import torch
import triton
import triton.language as tl

from ..compiled import compiled
from ..op import Work
from ..slices import node_lanes
from ..wire import Axes
from .walk import walk_tree


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


def argmax_walk(work: Work, _config: Axes) -> None:
    """Queue torch's argmax, then the walk."""
    torch.argmax(work.inputs["logits"], dim=-1, out=work.scratch["target"])
    _walk(work, work.scratch["target"])


def compiled_walk(work: Work, _config: Axes) -> None:
    """Likewise with the argmax that torch.compile makes."""
    _walk(work, compiled(choice)(work.inputs["logits"]))


def choice(logits: torch.Tensor) -> torch.Tensor:
    """Argmax of each row, int64 [B, N]."""
    return torch.argmax(logits, dim=-1)


def _walk(work: Work, target: torch.Tensor) -> None:
    batch, nodes = target.shape
    tree_greedy_walk[(batch,)](
        target,
        work.inputs["token"],
        work.inputs["parent"],
        work.outputs["path"],
        work.outputs["emitted"],
        work.outputs["accepted"],
        nodes,
        NODES=node_lanes(nodes),
        num_warps=1,
    )


def eager(work: Work, _config: Axes) -> None:
    """Queue the whole rule in torch's own operations, level by level, without asking the GPU for anything."""
    token, parent = work.inputs["token"], work.inputs["parent"]
    path, emitted, accepted = (work.outputs[name] for name in ("path", "emitted", "accepted"))
    target = choice(work.inputs["logits"])
    node = torch.arange(token.shape[1], device=token.device)
    path.fill_(-1)
    emitted.fill_(-1)
    accepted.zero_()
    here = torch.zeros_like(accepted, dtype=torch.int64)
    going = torch.ones_like(here, dtype=torch.bool)
    for level in range(len(work.scratch["here"]) - 1):
        chosen = target.gather(1, here[:, None])
        path[:, level] = torch.where(going, here, -1).to(torch.int32)
        emitted[:, level] = torch.where(going, chosen[:, 0], -1)
        follows = (parent == here[:, None]) & (parent < node) & (token == chosen)
        going = going & follows.any(1)
        here = torch.where(going, follows.to(torch.int8).argmax(1), here)
        accepted += going
