"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..wire import Axes

NAME = "tree_target_only"
AXES = ("batch", "nodes", "vocab", "dtype", "accepted", "shape", "depth", "values", "layout")
ELEMENT_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}


def bytes_of(axes: Axes) -> int:
    """Every logit, token (int64), parent (int32) and coin (fp32) read once; path, emitted and accepted written once."""
    batch, nodes, vocab = int(axes["batch"]), int(axes["nodes"]), int(axes["vocab"])
    return batch * nodes * vocab * ELEMENT_BYTES[str(axes["dtype"])] + _small_bytes(batch, nodes)


def visited_bytes_of(axes: Axes) -> int:
    """Likewise of the rows alone that a walk visits; the one block of a row that is read twice comes from a cache."""
    batch, nodes, vocab = int(axes["batch"]), int(axes["nodes"]), int(axes["vocab"])
    rows = batch * min(int(axes.get("accepted", 0)) + 1, nodes)
    return rows * vocab * ELEMENT_BYTES[str(axes["dtype"])] + _small_bytes(batch, nodes)


def _small_bytes(batch: int, nodes: int) -> int:
    return batch * nodes * (8 + 4 + 4) + batch * (4 + 4) + batch * nodes * (4 + 8) + batch * 4


def matrix_flops_of(_axes: Axes) -> int:
    """None: an exponential for each logit is not work for matrix units."""
    return 0
