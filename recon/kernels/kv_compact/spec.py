"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..wire import Axes

NAME = "kv_compact"
AXES = (
    "batch",
    "accepted",
    "nodes",
    "layers",
    "kv_heads",
    "head_dim",
    "dtype",
    "page",
    "layout",
    "moves",
    "width",
    "cache",
)
ELEMENT_BYTES = {"bf16": 2, "fp8": 1}
WORD_BYTES = 4


def words_of(axes: Axes) -> int:
    """Words of four bytes in one slot of one buffer: the keys or the values of one token in one layer."""
    return int(axes["kv_heads"]) * int(axes["head_dim"]) * ELEMENT_BYTES[str(axes["dtype"])] // WORD_BYTES


def buffers_of(axes: Axes) -> int:
    """Keys and values of each layer."""
    return 2 * int(axes["layers"])


def slots_of(axes: Axes) -> int:
    """Slots of each buffer: whole pages for the draft nodes of every request, and one page that belongs to nobody."""
    page = int(axes.get("page", 16))
    return page * (int(axes["batch"]) * -(-int(axes["nodes"]) // page) + 1)


def bytes_of(axes: Axes) -> int:
    """Each accepted row read once and written once in every buffer; both slots of each (int32) and the counts read."""
    batch, rows = int(axes["batch"]), int(axes["batch"]) * max(0, int(axes["accepted"]))
    return 2 * rows * buffers_of(axes) * words_of(axes) * WORD_BYTES + 8 * rows + 4 * batch + 8 * buffers_of(axes)


def held_bytes_of(axes: Axes) -> int:
    """The whole cache."""
    return slots_of(axes) * buffers_of(axes) * words_of(axes) * WORD_BYTES


def matrix_flops_of(_axes: Axes) -> int:
    """None."""
    return 0
