"""What an engine without such a kernel does: both softmaxes written down, and a pass of torch's for each draft."""

import torch

from ..op import Work
from ..tree_target_only.baselines import probabilities
from ..wire import Axes


def eager(work: Work, _config: Axes) -> None:
    """Queue the whole rule in torch's own operations, node by node, without asking the GPU for anything."""
    token, parent, coin = (work.inputs[name] for name in ("token", "parent", "coin"))
    path, emitted, accepted = (work.outputs[name] for name in ("path", "emitted", "accepted"))
    batch, nodes = token.shape
    target = probabilities(work.inputs["logits"], work.inputs["temperature"])
    drafter = probabilities(work.inputs["draft"], work.inputs["temperature"])
    path.fill_(-1)
    emitted.fill_(-1)
    accepted.zero_()
    path[:, 0] = 0
    here = torch.zeros(batch, dtype=torch.int64, device=token.device)
    tried = torch.full((batch,), -1, dtype=torch.int64, device=token.device)
    p, q = target[:, 0], drafter[:, 0]
    for node in range(1, nodes):
        x = token[:, node : node + 1]
        mine = (parent[:, node] == here)[:, None]  # [B, 1]
        takes = mine & (coin[:, node : node + 1] * q.gather(1, x) < p.gather(1, x))
        fails = mine & ~takes
        left = normal((p - q).clamp(min=0.0))
        spent = normal(q.scatter(1, x, 0.0)) if work.axes.get("siblings", "apart") == "apart" else q
        p = torch.where(takes, target[:, node], torch.where(fails, left, p))
        q = torch.where(takes, drafter[:, node], torch.where(fails, spent, q))
        emitted.scatter_(1, accepted[:, None].long(), torch.where(takes, x, -1))
        accepted += takes[:, 0]
        path.scatter_(1, accepted[:, None].long(), torch.where(takes[:, 0], node, here).to(torch.int32)[:, None])
        here = torch.where(takes[:, 0], node, here)
        tried = torch.where(mine[:, 0], x[:, 0], tried)
    emitted.scatter_(1, accepted[:, None].long(), drawn(p, work.inputs["last"], tried))


def normal(weights: torch.Tensor) -> torch.Tensor:
    """Weights over their sum, where they have one."""
    total = weights.sum(1, keepdim=True)
    return weights / torch.where(total > 0, total, 1.0)


def drawn(weights: torch.Tensor, coin: torch.Tensor, otherwise: torch.Tensor) -> torch.Tensor:
    """Tokens [B, 1] drawn from weights [B, V]; `otherwise` [B] where there are none."""
    run = weights.cumsum(1, dtype=torch.float64)
    total = run[:, -1:]
    token = torch.searchsorted(run, coin.double()[:, None] * total, right=True).clamp(max=weights.shape[1] - 1)
    return torch.where(total > 0, token, otherwise[:, None])
