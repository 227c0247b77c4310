"""Axes of the kernel, and what a case must move and compute. Standard library alone, so that a planner may read it."""

from ..wire import Axes

NAME = "tree_attention"
AXES = (
    "batch",
    "nodes",
    "context",
    "heads",
    "kv_heads",
    "head_dim",
    "dtype",
    "kv",
    "shape",
    "depth",
    "lengths",
    "values",
)
MOST_PROGRAMS = 384
"""Stretches that contexts are cut into, at most."""
MOST_ROWS = 128
"""Rows of a tile, at most."""
PAGE = 16
"""Tokens in a page of the cache."""
WORD = 64
"""Nodes in a word of a mask."""
KV_BYTES = {"bf16": 2, "fp16": 2, "fp8": 1}
"""Bytes of an element of the cache; queries and outputs have two."""


def bytes_of(axes: Axes) -> int:
    """Keys and values of context and draft, queries, table, lengths and masks read once; the output written once."""
    batch, nodes, context = int(axes["batch"]), int(axes["nodes"]), int(axes["context"])
    tokens, dim = context + nodes, int(axes["head_dim"])
    cache = 2 * tokens * int(axes["kv_heads"]) * dim * KV_BYTES[str(axes["kv"])]
    rows = 2 * nodes * int(axes["heads"]) * dim * 2
    return batch * (cache + rows + 4 * -(-tokens // PAGE) + 4 + nodes * 8 * -(-nodes // WORD))


def matrix_flops_of(axes: Axes) -> int:
    """Two products for each pair of a node and a token of the context, and of a node and itself."""
    pairs = int(axes["batch"]) * int(axes["nodes"]) * (int(axes["context"]) + 1)
    return 4 * pairs * int(axes["heads"]) * int(axes["head_dim"])


def part_rows_of(axes: Axes) -> int:
    """Rows of parts that programs may leave: one tile more for each program, whatever the tiles are."""
    rows = int(axes["nodes"]) * int(axes["heads"]) // int(axes["kv_heads"]) + MOST_ROWS
    return MOST_PROGRAMS * MOST_ROWS + int(axes["batch"]) * int(axes["kv_heads"]) * rows


def held_bytes_of(axes: Axes) -> int:
    """Device memory of one input set: both outputs and the parts as well."""
    batch, nodes, heads = int(axes["batch"]), int(axes["nodes"]), int(axes["heads"])
    parts = part_rows_of(axes) * (int(axes["head_dim"]) + 1) * 4
    return bytes_of(axes) + batch * nodes * (heads * int(axes["head_dim"]) * 2 + 4 * nodes) + parts
