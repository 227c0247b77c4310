"""What an engine without such a kernel does: torch's argmax of every row, then a running product of matches."""

import torch

from ..compiled import compiled
from ..op import Work
from ..wire import Axes


def argmax_cumprod(work: Work, _config: Axes) -> None:
    """Queue it in torch's own operations, each writing where it can."""
    token, target = work.inputs["token"], work.scratch["target"]
    torch.argmax(work.inputs["logits"], dim=-1, out=target)
    matches = (token[:, 1:] == target[:, :-1]).to(torch.int32)
    torch.sum(matches.cumprod(dim=1, dtype=torch.int32), dim=1, dtype=torch.int32, out=work.outputs["accepted"])
    position = torch.arange(token.shape[1], device=token.device)
    stands = position <= work.outputs["accepted"][:, None]
    torch.where(stands, target, work.scratch["unused"], out=work.outputs["emitted"])


def compiled_whole(work: Work, _config: Axes) -> None:
    """Queue what torch.compile makes of it as a whole."""
    compiled(accept)(work.inputs["logits"], work.inputs["token"], work.outputs["emitted"], work.outputs["accepted"])


def accept(logits: torch.Tensor, token: torch.Tensor, emitted: torch.Tensor, accepted: torch.Tensor) -> torch.Tensor:
    """Write emitted int64 [B, N] and accepted int32 [B] for logits [B, N, V] and token int64 [B, N]; gives emitted."""
    target = torch.argmax(logits, dim=-1)
    matches = (token[:, 1:] == target[:, :-1]).to(torch.int32)
    steps = matches.cumprod(dim=1).sum(dim=1)
    accepted.copy_(steps)
    position = torch.arange(token.shape[1], device=token.device)
    return emitted.copy_(torch.where(position <= steps[:, None], target, -1))
