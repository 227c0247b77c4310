"""Tensors for a case of the step form."""

import torch

from ..op import Work
from ..ssd import sizes, ssd_inputs
from ..trees import DTYPES
from ..wire import Axes
from .spec import kept


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded inputs, and room for outputs and the states that are kept."""
    inputs = ssd_inputs(axes, seed, device)
    batch, _, heads, value, _, size = sizes(axes)
    outputs = {"out": torch.empty_like(inputs["x"], dtype=DTYPES[str(axes.get("out", "bf16"))])}
    if kept(axes):
        shape = (batch, kept(axes), heads, value, size)
        outputs["states"] = torch.empty(shape, dtype=inputs["state"].dtype, device=device)
    return Work(inputs, outputs, axes=axes)
