"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..recurrent_axes import delta_state_bytes, path_bytes
from ..wire import Axes

NAME = "state_scatter"
AXES = (
    "batch",
    "nodes",
    "linear_value_heads",
    "linear_key_dim",
    "linear_value_dim",
    "state",
    "accepted",
    "shape",
    "depth",
)


def bytes_of(axes: Axes) -> int:
    """Of all states that were kept one is read, and written."""
    return int(axes["batch"]) * (2 * delta_state_bytes(axes) + path_bytes(axes))


def held_bytes_of(axes: Axes) -> int:
    """Device memory of a case: the states of all nodes, and one more."""
    return int(axes["batch"]) * (int(axes["nodes"]) + 1) * delta_state_bytes(axes)


def matrix_flops_of(_axes: Axes) -> int:
    """None."""
    return 0
