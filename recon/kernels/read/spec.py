"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..wire import Axes

NAME = "read"
AXES = ("bytes",)
SUMS = 4096
"""Partial sums written, int32."""


def bytes_of(axes: Axes) -> int:
    """Every byte read once; the partial sums written once."""
    return int(axes["bytes"]) + SUMS * 4


def matrix_flops_of(_axes: Axes) -> int:
    """None."""
    return 0
