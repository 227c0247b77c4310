"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..wire import Axes

NAME = "linear_block"
AXES = ("batch", "nodes", "vocab", "dtype", "accepted", "values", "layout")
ELEMENT_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}


def bytes_of(axes: Axes) -> int:
    """Every logit of target and drafter read twice, token (int64) and coin (fp32) once; emitted and accepted written.

    The second pass needs the shares of the first.
    """
    batch, nodes, vocab = int(axes["batch"]), int(axes["nodes"]), int(axes["vocab"])
    logits = 2 * 2 * batch * nodes * vocab * ELEMENT_BYTES[str(axes["dtype"])]
    return logits + batch * nodes * (8 + 4) + batch * (4 + 4) + batch * nodes * 8 + batch * 4


def matrix_flops_of(_axes: Axes) -> int:
    """None: an exponential for each logit is not work for matrix units."""
    return 0
