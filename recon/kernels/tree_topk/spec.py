"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..wire import Axes

NAME = "tree_topk"
AXES = ("batch", "nodes", "steps", "topk", "values")


def candidates_of(axes: Axes) -> int:
    """Prefixes that the drafter looked at: the best tokens of the first step, then those of each prefix kept."""
    topk = int(axes["topk"])
    return topk + (int(axes["steps"]) - 1) * topk * topk


def bytes_of(axes: Axes) -> int:
    """Each log-probability (fp32) read once; candidates, parents, depths (int32) and ancestor bits written."""
    batch, nodes = int(axes["batch"]), int(axes["nodes"])
    return batch * (4 * candidates_of(axes) + nodes * (3 * 4 + 4 * -(-nodes // 32)))


def matrix_flops_of(_axes: Axes) -> int:
    """None."""
    return 0
