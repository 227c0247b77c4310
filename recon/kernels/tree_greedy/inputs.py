"""Tensors for a case of greedy tree acceptance."""

import torch

from ..op import Work
from ..slices import lazy_scratch_of, scratch_of
from ..trees import depth_of, draft
from ..wire import Axes


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded logits and trees, outputs, and scratch in its initial state."""
    batch, nodes = int(axes["batch"]), int(axes["nodes"])
    return Work(
        inputs=draft(axes, seed, device),
        outputs={
            "path": torch.empty((batch, nodes), dtype=torch.int32, device=device),
            "emitted": torch.empty((batch, nodes), dtype=torch.int64, device=device),
            "accepted": torch.empty(batch, dtype=torch.int32, device=device),
        },
        scratch=scratch_of(batch, nodes, device) | lazy_scratch_of(batch, depth_of(axes), device),
        axes=axes,
    )
