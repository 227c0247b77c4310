"""An empty launch moves and computes nothing."""

from ..wire import Axes

NAME = "nop"
AXES = ()


def bytes_of(_axes: Axes) -> int:
    """Nothing."""
    return 0


def matrix_flops_of(_axes: Axes) -> int:
    """Nothing."""
    return 0
