"""Tensors for a case of block verification."""

import torch

from ..linear_stochastic.inputs import work_on as chain_on
from ..masses import blocks_of
from ..op import Tensors, Work
from ..trees import draft, drafter, draws
from ..wire import Axes


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded logits of target and drafter, chains and coins, outputs, and scratch."""
    axes = {**axes, "shape": "chain"}
    made = draft(axes, seed, device)
    inputs = {"logits": made["logits"], "token": made["token"], **draws(axes, seed, device)}
    return work_on(inputs | drafter(axes, seed, made))


def work_on(inputs: Tensors) -> Work:
    """Outputs and scratch for given inputs."""
    batch, nodes, vocab = inputs["logits"].shape
    device = inputs["logits"].device
    work = chain_on(inputs)
    more = {
        "share": torch.empty((batch, nodes), dtype=torch.float32, device=device),
        "left": torch.empty((batch, nodes, blocks_of(vocab)), dtype=torch.float32, device=device),
    }
    return Work(work.inputs, work.outputs, work.scratch | more)
