"""Tensors for a case of target-only tree acceptance."""

import torch

from ..masses import masses_of
from ..op import Tensors, Work
from ..trees import depth_of, draft, draws
from ..wire import Axes


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded logits, trees and coins, outputs, and scratch."""
    return work_on(draft(axes, seed, device) | draws(axes, seed, device), axes)


def work_on(inputs: Tensors, axes: Axes) -> Work:
    """Outputs and scratch for given inputs; the axis `depth` is the most drafts on one path."""
    batch, nodes, vocab = inputs["logits"].shape
    device = inputs["logits"].device
    return Work(
        inputs=inputs,
        outputs={
            "path": torch.empty((batch, nodes), dtype=torch.int32, device=device),
            "emitted": torch.empty((batch, nodes), dtype=torch.int64, device=device),
            "accepted": torch.empty(batch, dtype=torch.int32, device=device),
        },
        scratch={
            **masses_of((batch, nodes), vocab, device),
            **masses_of((2, batch), vocab, device, "level_"),
            "here": torch.empty((depth_of(axes) + 2, batch), dtype=torch.int32, device=device),
        },
        axes=axes,
    )
