"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..wire import Axes

NAME = "copy"
AXES = ("bytes",)


def bytes_of(axes: Axes) -> int:
    """Every byte read once and written once."""
    return 2 * int(axes["bytes"])


def matrix_flops_of(_axes: Axes) -> int:
    """None."""
    return 0
