"""Tensors for a case of the commit."""

import torch

from ..conv_tree.inputs import conv_inputs
from ..op import Work
from ..wire import Axes


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded inputs and room for windows."""
    inputs = conv_inputs(axes, seed, device)
    return Work(inputs, {"after": torch.empty_like(inputs["window"])}, axes=axes)
