"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..wire import Axes

NAME = "gemm_fp8"
AXES = ("m", "n", "k", "weight")


def bytes_of(axes: Axes) -> int:
    """Both fp8 operands read once, the bf16 product written once."""
    m, n, k = int(axes["m"]), int(axes["n"]), int(axes["k"])
    return m * k + k * n + 2 * m * n


def matrix_flops_of(_axes: Axes) -> int:
    """None that a floor may count: the rate that is measured is that of bf16, and what fp8 gains differs by card."""
    return 0
