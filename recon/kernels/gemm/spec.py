"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..wire import Axes

NAME = "gemm"
AXES = ("m", "n", "k", "layout", "weight")


def bytes_of(axes: Axes) -> int:
    """Both bf16 operands read once, the bf16 product written once."""
    m, n, k = int(axes["m"]), int(axes["n"]), int(axes["k"])
    return 2 * (m * k + k * n + m * n)


def matrix_flops_of(axes: Axes) -> int:
    """A multiplication and an addition for each of m*n*k."""
    return 2 * int(axes["m"]) * int(axes["n"]) * int(axes["k"])
