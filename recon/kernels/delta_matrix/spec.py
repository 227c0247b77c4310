"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..recurrent_axes import TREE_BYTES, delta_out_bytes, delta_state_bytes, delta_token_bytes
from ..wire import Axes

NAME = "delta_matrix"
AXES = (
    *("batch", "nodes", "linear_key_heads", "linear_value_heads", "linear_key_dim", "linear_value_dim"),
    *("state", "out", "shape", "depth", "values"),
)


def bytes_of(axes: Axes) -> int:
    """Each state read once, tokens read once, outputs written once."""
    token = delta_token_bytes(axes) + delta_out_bytes(axes) + TREE_BYTES
    return int(axes["batch"]) * (delta_state_bytes(axes) + int(axes["nodes"]) * token)


def matrix_flops_of(axes: Axes) -> int:
    """Queries and keys against the state: each further product is of the form and not of the rule."""
    heads, key, value = (int(axes[f"linear_{name}"]) for name in ("value_heads", "key_dim", "value_dim"))
    return 2 * 2 * int(axes["batch"]) * int(axes["nodes"]) * heads * key * value
