"""Tensors for a case of the matrix form."""

import torch

from ..op import Work
from ..ssd import ssd_inputs
from ..trees import DTYPES
from ..wire import Axes


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded inputs and room for outputs."""
    inputs = ssd_inputs(axes, seed, device)
    out = torch.empty_like(inputs["x"], dtype=DTYPES[str(axes.get("out", "bf16"))])
    return Work(inputs, {"out": out}, axes=axes)
