"""Tensors for a case of the commit."""

import torch

from ..delta import delta_inputs
from ..op import Work
from ..wire import Axes


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded inputs, and room for the states behind the accepted paths."""
    inputs = delta_inputs(axes, seed, device)
    return Work(inputs, {"after": torch.empty_like(inputs["state"])}, axes=axes)
