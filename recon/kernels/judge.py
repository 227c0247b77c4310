"""Whether a stochastic kernel drew what its coins say, up to rounding.

A kernel sums in float32 and its reference in float64. Where a coin lies within `ROUNDING` of the chance that it is set
against, both answers are right and the request is passed over; a last token is right when its stretch of the running
sum reaches to within `ROUNDING` of the coin.
"""

import torch

from .op import Tensors

ROUNDING = 2e-5
"""Of a sum of probabilities in float32, several times what is seen."""
MOST_PASSED_OVER = 0.02
"""Share of requests, or one request: more near misses than that are no chance."""


def judge(outputs: Tensors, inputs: Tensors, expected: Tensors) -> str:
    """Empty where path, tokens emitted and count are right, else the first that is not.

    Args:
        outputs: emitted int64 [B, N] and accepted int32 [B]; path int32 [B, N] where the kernel walks a tree.
        inputs: token int64 [B, N] and last float32 [B].
        expected: accepted [B], rest float64 [B, V] and margin [B]; path [B, N] likewise.
    """
    got = {name: tensor.cpu() for name, tensor in outputs.items()}
    token, last = inputs["token"].cpu(), inputs["last"].cpu().double()
    batch, nodes = token.shape
    clear = expected["margin"] > ROUNDING
    if (~clear).sum().item() > max(1.0, MOST_PASSED_OVER * batch):
        return f"{(~clear).sum().item()} of {batch} requests are too near to call"
    path = expected.get("path", torch.arange(nodes).expand(batch, nodes))  # of a chain: as far as it goes
    place = torch.arange(nodes)
    steps = expected["accepted"].long()[:, None]
    drafts = token.gather(1, path.roll(-1, 1).clamp(min=0).long())
    emitted = torch.where(place < steps, drafts, -1)
    there = place == steps
    wrong = _differs("accepted", got["accepted"], expected["accepted"], clear)
    if "path" in expected:
        wrong = wrong or _differs("path", got["path"], expected["path"], clear[:, None])
    wrong = wrong or _differs(
        "emitted", torch.where(there, -2, got["emitted"]), torch.where(there, -2, emitted), clear[:, None]
    )
    return wrong or _last_token(got["emitted"].gather(1, steps)[:, 0], last, expected["rest"], clear)


def _differs(name: str, got: torch.Tensor, want: torch.Tensor, clear: torch.Tensor) -> str:
    wrong = ((got != want) & clear).nonzero()
    if not len(wrong):
        return ""
    place = tuple(wrong[0].tolist())
    return f"{name}{list(place)} is {got[place].item()}, the reference says {want[place].item()}; {len(wrong)} differ"


def _last_token(token: torch.Tensor, coin: torch.Tensor, rest: torch.Tensor, clear: torch.Tensor) -> str:
    """Whether the last token's stretch of the running sum holds the coin."""
    vocab = rest.shape[1]
    outside = (token < 0) | (token >= vocab)
    safe = token.clamp(0, vocab - 1)[:, None]
    total = rest.sum(1)
    upper = rest.cumsum(1).gather(1, safe)[:, 0]
    weight = rest.gather(1, safe)[:, 0]
    slack = ROUNDING * torch.ones_like(total)
    point = coin * total
    wrong = outside | (weight <= 0.0) | (point > upper + slack) | (point < upper - weight - slack)
    bad = (wrong & clear & (total > ROUNDING)).nonzero()
    if not len(bad):
        return ""
    first = int(bad[0])
    stretch = f"{(upper - weight)[first].item():.6g} to {upper[first].item():.6g}"
    return (
        f"last token of request {first} is {token[first].item()}, whose stretch is {stretch}, "
        f"and the coin lies at {point[first].item():.6g}; the reference says another; {len(bad)} differ"
    )
