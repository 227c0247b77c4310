"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..recurrent_axes import delta_out_bytes, delta_state_bytes, delta_token_bytes
from ..wire import Axes

NAME = "delta_step"
AXES = (
    *("batch", "nodes", "linear_key_heads", "linear_value_heads", "linear_key_dim", "linear_value_dim"),
    *("state", "out", "shape", "depth", "values", "keep"),
)
PARENT_BYTES = 4


def kept(axes: Axes) -> int:
    """States that are written for each request: the axis `keep` is `none`, `last`, or `every` if left out."""
    return {"none": 0, "last": 1, "every": int(axes["nodes"])}[str(axes.get("keep", "every"))]


def bytes_of(axes: Axes) -> int:
    """Each state read once, tokens read once, outputs and the states that are kept written once."""
    nodes, states = int(axes["nodes"]), 1 + kept(axes)
    token = delta_token_bytes(axes) + delta_out_bytes(axes) + PARENT_BYTES
    return int(axes["batch"]) * (states * delta_state_bytes(axes) + nodes * token)


def matrix_flops_of(_axes: Axes) -> int:
    """None: a vector at a time is no work for matrix units."""
    return 0
