"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..wire import Axes

NAME = "linear_stochastic"
AXES = ("batch", "nodes", "vocab", "dtype", "accepted", "values", "layout", "drafter")
ELEMENT_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}


def bytes_of(axes: Axes) -> int:
    """Every logit of the target, token (int64) and coin (fp32) read once; emitted and accepted written once.

    The drafter's logits count likewise where they are given.
    """
    batch, nodes, vocab = int(axes["batch"]), int(axes["nodes"]), int(axes["vocab"])
    models = 1 if axes.get("drafter") == "none" else 2
    logits = models * batch * nodes * vocab * ELEMENT_BYTES[str(axes["dtype"])]
    return logits + batch * nodes * (8 + 4) + batch * (4 + 4) + batch * nodes * 8 + batch * 4


def matrix_flops_of(_axes: Axes) -> int:
    """None: an exponential for each logit is not work for matrix units."""
    return 0
