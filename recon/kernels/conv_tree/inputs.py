"""Tensors for a case of the convolution."""

import torch

from ..ancestry import ancestry
from ..op import Tensors, Work
from ..wire import Axes


def conv_inputs(axes: Axes, seed: int, device: torch.device) -> Tensors:
    """Seeded inputs of one layer.

    Returns:
        The trees, and in bf16: x [B, T, C]; weight [C, W]; window [B, W - 1, C], the inputs before the root, the newest
        last.
    """
    batch, nodes, channels, width = (int(axes[name]) for name in ("batch", "nodes", "channels", "width"))
    generator = torch.Generator(device).manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float32, device=device).bfloat16()

    return ancestry(axes, seed, device) | {
        "x": normal(batch, nodes, channels),
        "weight": normal(channels, width),
        "window": normal(batch, width - 1, channels),
    }


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded inputs and room for outputs."""
    inputs = conv_inputs(axes, seed, device)
    return Work(inputs, {"out": torch.empty_like(inputs["x"])}, axes=axes)
