"""Tensors for a case of the commit."""

import torch

from ..op import Work
from ..ssd import ssd_inputs
from ..wire import Axes


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded inputs, and room for the states behind the accepted paths."""
    inputs = ssd_inputs(axes, seed, device)
    return Work(inputs, {"after": torch.empty_like(inputs["state"])}, axes=axes)
