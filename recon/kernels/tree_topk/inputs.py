"""What a drafter says step by step, and room for a tree."""

import torch

from ..building import words_for
from ..op import Work
from ..tree_best_first.inputs import best
from ..wire import Axes
from . import spec


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded log-probabilities [B, S, k, k], the best first, outputs, and what one launch leaves for the next.

    A drafter would be asked between the steps; here its answers do not depend on which prefixes were kept. Of `values`
    see `tree_best_first.inputs`.

    Returns:
        scratch: score float32 and above int32 of each candidate [B, M], kept int32 [B, S, k], and node_of int32 [B, M].
    """
    batch, nodes, steps, topk = (int(axes[name]) for name in ("batch", "nodes", "steps", "topk"))
    logprob = best(axes, (batch, steps, topk), topk, seed, device)
    many = spec.candidates_of(axes)

    def empty(*shape: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=device)

    outputs = {name: empty(batch, nodes) for name in ("candidate", "parent", "depth")}
    outputs["ancestors"] = empty(batch, nodes, words_for(nodes))
    scratch = {"above": empty(batch, many), "kept": empty(batch, steps, topk), "node_of": empty(batch, many)}
    scratch["score"] = empty(batch, many, dtype=torch.float32)
    return Work({"logprob": logprob}, outputs, scratch, axes)
