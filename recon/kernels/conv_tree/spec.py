"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..wire import Axes

NAME = "conv_tree"
AXES = ("batch", "nodes", "channels", "width", "shape", "depth")


def bytes_of(axes: Axes) -> int:
    """Inputs and weights read once, windows read once, outputs written once; all bf16, parents int32."""
    batch, nodes, channels, width = (int(axes[name]) for name in ("batch", "nodes", "channels", "width"))
    each = nodes * (2 * channels * 2 + 4) + (width - 1) * channels * 2
    return batch * each + channels * width * 2


def matrix_flops_of(_axes: Axes) -> int:
    """None: few products for each element."""
    return 0
