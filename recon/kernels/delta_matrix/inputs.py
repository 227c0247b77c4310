"""Tensors for a case of the matrix form."""

import torch

from ..delta import delta_inputs
from ..op import Tensors, Work
from ..trees import DTYPES
from ..wire import Axes


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded inputs and room for outputs."""
    return work_on(delta_inputs(axes, seed, device), axes)


def work_on(inputs: Tensors, axes: Axes) -> Work:
    """Room for outputs of given inputs; the axis `depth` is the most drafts on one path."""
    out = torch.empty_like(inputs["v"], dtype=DTYPES[str(axes.get("out", "bf16"))])
    return Work(inputs, {"out": out}, axes=axes)
