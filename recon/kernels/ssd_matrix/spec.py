"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..recurrent_axes import TREE_BYTES, ssd_out_bytes, ssd_state_bytes, ssd_token_bytes
from ..wire import Axes

NAME = "ssd_matrix"
AXES = (
    *("batch", "nodes", "mamba_heads", "mamba_head_dim", "mamba_groups", "mamba_state"),
    *("state", "out", "shape", "depth", "values"),
)


def bytes_of(axes: Axes) -> int:
    """Each state read once, tokens read once, outputs written once."""
    token = ssd_token_bytes(axes) + ssd_out_bytes(axes) + TREE_BYTES
    return int(axes["batch"]) * (ssd_state_bytes(axes) + int(axes["nodes"]) * token)


def matrix_flops_of(axes: Axes) -> int:
    """What is read from the states: each further product is of the form and not of the rule."""
    heads, value, size = (int(axes[f"mamba_{name}"]) for name in ("heads", "head_dim", "state"))
    return 2 * int(axes["batch"]) * int(axes["nodes"]) * heads * value * size
