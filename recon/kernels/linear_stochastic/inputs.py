"""Tensors for a case of stochastic linear acceptance."""

import torch

from ..masses import masses_of
from ..op import Tensors, Work
from ..trees import draft, drafter, draws
from ..wire import Axes


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded logits, chains and coins, outputs, and scratch."""
    axes = {**axes, "shape": "chain"}
    made = draft(axes, seed, device)
    inputs = {"logits": made["logits"], "token": made["token"], **draws(axes, seed, device)}
    return work_on(inputs if axes.get("drafter") == "none" else inputs | drafter(axes, seed, made))


def work_on(inputs: Tensors) -> Work:
    """Outputs and scratch for given inputs, with the drafter's logits among them or without."""
    batch, nodes, vocab = inputs["logits"].shape
    device = inputs["logits"].device
    chain = torch.arange(-1, nodes - 1, dtype=torch.int32, device=device)
    drafter_masses = masses_of((batch, nodes), vocab, device, "draft_") if "draft" in inputs else {}
    return Work(
        inputs=inputs,
        outputs={
            "emitted": torch.empty((batch, nodes), dtype=torch.int64, device=device),
            "accepted": torch.empty(batch, dtype=torch.int32, device=device),
        },
        scratch={
            **masses_of((batch, nodes), vocab, device),
            **drafter_masses,
            "path": torch.empty((batch, nodes), dtype=torch.int32, device=device),
            "parent": chain.repeat(batch, 1),
        },
    )
