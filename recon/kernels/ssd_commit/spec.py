"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..recurrent_axes import path_bytes, path_nodes, ssd_state_bytes, ssd_token_bytes
from ..wire import Axes

NAME = "ssd_commit"
AXES = (
    *("batch", "nodes", "mamba_heads", "mamba_head_dim", "mamba_groups", "mamba_state"),
    *("state", "accepted", "shape", "depth", "values"),
)


def bytes_of(axes: Axes) -> int:
    """Each state read and written once, the tokens of its path read once."""
    tokens = path_nodes(axes) * ssd_token_bytes(axes, queries=False)
    return int(axes["batch"]) * (2 * ssd_state_bytes(axes) + tokens + path_bytes(axes))


def held_bytes_of(axes: Axes) -> int:
    """Device memory of a case: two states, and the tokens of all nodes."""
    token = ssd_token_bytes(axes)
    return int(axes["batch"]) * (2 * ssd_state_bytes(axes) + int(axes["nodes"]) * token)


def matrix_flops_of(_axes: Axes) -> int:
    """None: a vector at a time is no work for matrix units."""
    return 0
