"""Tensors for a case of multi-round tree acceptance."""

import torch

from ..masses import masses_of
from ..op import Tensors, Work
from ..trees import draft, drafter, draws
from ..wire import Axes


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded logits of target and drafter, trees and coins, outputs, and scratch."""
    made = draft(axes, seed, device)
    return work_on(made | drafter(axes, seed, made) | draws(axes, seed, device), axes)


def work_on(inputs: Tensors, axes: Axes) -> Work:
    """Outputs and scratch for given inputs; the axis `siblings` says how these were drawn."""
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
            **masses_of((batch, nodes), vocab, device, "draft_"),
        },
        axes=axes,
    )
