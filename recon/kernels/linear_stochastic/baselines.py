"""What an engine without such a kernel does: the softmax of every row written down, and torch's own operations."""

import torch

from ..compiled import Function, compiled
from ..op import Work
from ..tree_multi_round.baselines import drawn
from ..tree_target_only.baselines import probabilities
from ..wire import Axes


def eager(work: Work, _config: Axes) -> None:
    """Queue the whole rule, without asking the GPU for anything."""
    _accept(work, probabilities)


def compiled_softmax(work: Work, _config: Axes) -> None:
    """Likewise with the softmax that torch.compile makes."""
    _accept(work, compiled(probabilities))


def _accept(work: Work, softmax: Function) -> None:
    token, coin = work.inputs["token"], work.inputs["coin"]
    target = softmax(work.inputs["logits"], work.inputs["temperature"])
    following = token[:, 1:, None]
    if "draft" in work.inputs:
        drafter = softmax(work.inputs["draft"], work.inputs["temperature"])
    else:
        drafter = torch.zeros_like(target)
        drafter[:, :-1].scatter_(2, following, 1.0)
    chance = target[:, :-1].gather(2, following)[:, :, 0]
    stands = coin[:, :-1] * drafter[:, :-1].gather(2, following)[:, :, 0] < chance
    accepted = stands.to(torch.int32).cumprod(1).sum(1)  # [B]
    write(work, accepted, residual(target, drafter, accepted, torch.ones_like(work.inputs["last"])))


def residual(target: torch.Tensor, drafter: torch.Tensor, accepted: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
    """Weights [B, V] behind the drafts accepted [B]: what the drafter leaves of a share [B], all behind the last."""
    at = accepted[:, None, None].long().expand(-1, 1, target.shape[2])
    p, q = target.gather(1, at)[:, 0], drafter.gather(1, at)[:, 0]
    whole = (accepted == target.shape[1] - 1)[:, None]
    return torch.where(whole, p, (share[:, None] * p - q).clamp(min=0.0))


def write(work: Work, accepted: torch.Tensor, rest: torch.Tensor) -> None:
    """The drafts accepted, and a token drawn from the rest."""
    token = work.inputs["token"]
    place = torch.arange(token.shape[1], device=token.device)
    emitted = torch.where(place < accepted[:, None], token.roll(-1, 1), -1)
    behind = token.roll(-1, 1).gather(1, accepted[:, None].long())[:, 0]
    emitted.scatter_(1, accepted[:, None].long(), drawn(rest, work.inputs["last"], behind))
    work.outputs["emitted"].copy_(emitted)
    work.outputs["accepted"].copy_(accepted)
