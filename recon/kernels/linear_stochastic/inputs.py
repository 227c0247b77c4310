"""Tensors for a case of stochastic linear acceptance."""

import torch

from ..masses import blocks_of, masses_of
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
    return Work(
        inputs=inputs,
        outputs={
            "emitted": torch.empty((batch, nodes), dtype=torch.int64, device=device),
            "accepted": torch.empty(batch, dtype=torch.int32, device=device),
        },
        scratch={
            **masses_of((batch, nodes), vocab, device),
            **(_for_rounds if "draft" in inputs else _for_the_walk)(batch, nodes, vocab, device),
        },
    )


def _for_rounds(batch: int, nodes: int, vocab: int, device: torch.device) -> Tensors:
    """Masses of the drafter's rows, which drafts stand, and what each block of one row has left."""
    return {
        **masses_of((batch, nodes), vocab, device, "draft_"),
        "stands": torch.empty((batch, nodes), dtype=torch.int32, device=device),
        "left": torch.empty((batch, blocks_of(vocab)), dtype=torch.float32, device=device),
    }


def _for_the_walk(batch: int, nodes: int, _vocab: int, device: torch.device) -> Tensors:
    """The chain as a tree with one branch."""
    chain = torch.arange(-1, nodes - 1, dtype=torch.int32, device=device)
    return {
        "path": torch.empty((batch, nodes), dtype=torch.int32, device=device),
        "parent": chain.repeat(batch, 1),
    }
