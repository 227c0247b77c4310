"""What an engine without such a kernel does: both softmaxes written down, and torch's own operations."""

import torch

from ..linear_stochastic.baselines import residual, write
from ..op import Work
from ..tree_target_only.baselines import probabilities
from ..wire import Axes


def eager(work: Work, _config: Axes) -> None:
    """Queue the whole rule, without asking the GPU for anything."""
    token, coin = work.inputs["token"], work.inputs["coin"]
    batch, nodes = token.shape
    target = probabilities(work.inputs["logits"], work.inputs["temperature"])
    drafter = probabilities(work.inputs["draft"], work.inputs["temperature"])
    shares = [torch.ones(batch, device=token.device)]
    accepted = torch.zeros(batch, dtype=torch.int32, device=token.device)
    for here in range(nodes - 1):
        x = token[:, here + 1 : here + 2]
        ratio = target[:, here].gather(1, x) / drafter[:, here].gather(1, x)
        share = (shares[-1] * ratio.nan_to_num(0.0)[:, 0]).clamp(max=1.0)
        shares.append(share)
        left = (share[:, None] * target[:, here + 1] - drafter[:, here + 1]).clamp(min=0.0).sum(1)
        inside = (share >= 1.0) | (coin[:, here] * (left + 1.0 - share) < left)
        stands = coin[:, here] < share if here + 2 == nodes else inside
        accepted = torch.where(stands, here + 1, accepted)
    share = torch.stack(shares, 1).gather(1, accepted[:, None].long())[:, 0]
    write(work, accepted, residual(target, drafter, accepted, share))
