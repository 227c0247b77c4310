"""Chances of a block drafter, and room for a tree."""

import torch

from ..building import words_for
from ..op import Work
from ..wire import Axes

VOCAB = 512
"""Tokens that the best are taken from."""
GRID = 1024
"""Log-probabilities are multiples of 1/1024, so that sums of them are exact: host and device then agree to the bit."""


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded log-probabilities [B, L, K], the best first, and outputs.

    With `values` left out they lie on a grid; `raw` rounds nothing, `ties` makes most of them equal, `certain` leaves
    one token for each position, with the log-probability 0.
    """
    batch, nodes, depth, ranks = (int(axes[name]) for name in ("batch", "nodes", "depth", "ranks"))
    logprob = best(axes, (batch, depth), ranks, seed, device)

    def empty(*shape: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=device)

    outputs = {name: empty(batch, nodes) for name in ("parent", "rank", "depth")}
    outputs["score"] = empty(batch, nodes, dtype=torch.float32)
    outputs["ancestors"] = empty(batch, nodes, words_for(nodes))
    return Work({"logprob": logprob}, outputs, axes=axes)


def best(axes: Axes, rows: tuple[int, ...], ranks: int, seed: int, device: torch.device) -> torch.Tensor:
    """float32 [*rows, ranks]: the greatest log-probabilities of as many distributions, the greatest first."""
    generator = torch.Generator(device).manual_seed(seed)
    logits = 3.0 * torch.randn((*rows, max(VOCAB, ranks)), generator=generator, device=device)
    logprob = logits.log_softmax(-1).topk(ranks, -1).values
    match str(axes.get("values", "grid")):
        case "raw":
            return logprob
        case "ties":
            return (logprob / 2).round() * 2 + 0.0  # no negative zero
        case "certain":
            logprob[..., 0] = 0.0
            logprob[..., 1:] = float("-inf")
            return logprob
        case _:
            return (logprob * GRID).round() / GRID + 0.0
