"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..wire import Axes

NAME = "tree_best_first"
AXES = ("batch", "nodes", "depth", "ranks", "values")


def bytes_of(axes: Axes) -> int:
    """One log-probability read for each node; parent, rank, depth (int32), score (fp32) and ancestor bits written."""
    batch, nodes = int(axes["batch"]), int(axes["nodes"])
    return batch * nodes * (4 + 4 * 4 + 4 * -(-nodes // 32))


def matrix_flops_of(_axes: Axes) -> int:
    """None."""
    return 0
