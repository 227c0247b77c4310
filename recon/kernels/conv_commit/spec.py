"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..recurrent_axes import path_bytes
from ..wire import Axes

NAME = "conv_commit"
AXES = ("batch", "nodes", "channels", "width", "accepted", "shape", "depth")


def bytes_of(axes: Axes) -> int:
    """Each window is read, of the old one or of the path's inputs, and written; all bf16."""
    return int(axes["batch"]) * (2 * (int(axes["width"]) - 1) * int(axes["channels"]) * 2 + path_bytes(axes))


def held_bytes_of(axes: Axes) -> int:
    """Device memory of a case: inputs of all nodes, two windows and the weights."""
    rows = int(axes["nodes"]) + 2 * (int(axes["width"]) - 1)
    return (int(axes["batch"]) * rows + int(axes["width"])) * int(axes["channels"]) * 2


def matrix_flops_of(_axes: Axes) -> int:
    """None."""
    return 0
