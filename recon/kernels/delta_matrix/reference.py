"""The definition that the matrix form must match: the plain walk, of which outputs alone are kept."""

import torch

from ..delta import walks
from ..op import Tensors


def reference(inputs: Tensors) -> torch.Tensor:
    """Outputs float64 [B, T, Hv, V] of every node; see `walks`."""
    return torch.stack([out for out, _ in walks(inputs)])
