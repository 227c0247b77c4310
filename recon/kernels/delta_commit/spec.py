"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..recurrent_axes import delta_state_bytes, delta_token_bytes, path_bytes, path_nodes
from ..wire import Axes

NAME = "delta_commit"
AXES = (
    *("batch", "nodes", "linear_key_heads", "linear_value_heads", "linear_key_dim", "linear_value_dim"),
    *("state", "accepted", "shape", "depth", "values"),
)


def bytes_of(axes: Axes) -> int:
    """Each state read and written once, the tokens of its path read once."""
    tokens = path_nodes(axes) * delta_token_bytes(axes, queries=False)
    return int(axes["batch"]) * (2 * delta_state_bytes(axes) + tokens + path_bytes(axes))


def held_bytes_of(axes: Axes) -> int:
    """Device memory of a case: two states, and the tokens of all nodes."""
    token = delta_token_bytes(axes)
    return int(axes["batch"]) * (2 * delta_state_bytes(axes) + int(axes["nodes"]) * token)


def matrix_flops_of(_axes: Axes) -> int:
    """None: a vector at a time is no work for matrix units."""
    return 0
