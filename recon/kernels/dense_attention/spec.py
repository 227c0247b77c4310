"""Axes of the kernel, and what a case must move and compute: those of the paged kernel. Standard library alone."""

from ..tree_attention import spec as paged
from ..wire import Axes

NAME = "dense_attention"
AXES = paged.AXES


def bytes_of(axes: Axes) -> int:
    """As for a paged cache, whose table is not worth a difference."""
    return paged.bytes_of(axes)


def held_bytes_of(axes: Axes) -> int:
    """The paged cache, the dense one twice, a mask of a byte for each pair, and what the paged kernel has beside."""
    batch, nodes, tokens = int(axes["batch"]), int(axes["nodes"]), int(axes["context"]) + int(axes["nodes"])
    cache = 2 * batch * tokens * int(axes["kv_heads"]) * int(axes["head_dim"]) * 2
    return paged.held_bytes_of(axes) + 2 * cache + batch * nodes * tokens


def gathered_bytes_of(axes: Axes) -> int:
    """Keys and values read and written once."""
    tokens = int(axes["batch"]) * (int(axes["context"]) + int(axes["nodes"]))
    return 4 * tokens * int(axes["kv_heads"]) * int(axes["head_dim"]) * paged.KV_BYTES[str(axes["kv"])]


def matrix_flops_of(axes: Axes) -> int:
    """Likewise."""
    return paged.matrix_flops_of(axes)
