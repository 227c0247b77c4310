"""Bytes of what recurrent layers read and write. Standard library alone, so that a planner may read it."""

from .wire import Axes

ELEMENT_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}
TREE_BYTES = 8 + 4
"""Ancestors and level of a node."""


def delta_state_bytes(axes: Axes) -> int:
    """One state of one request under the gated delta rule."""
    heads, key, value = (int(axes[f"linear_{name}"]) for name in ("value_heads", "key_dim", "value_dim"))
    return heads * key * value * ELEMENT_BYTES[str(axes["state"])]


def delta_token_bytes(axes: Axes, *, queries: bool = True) -> int:
    """What one token brings: query, key, value, decay and beta."""
    keys, key = int(axes["linear_key_heads"]), int(axes["linear_key_dim"])
    heads, value = int(axes["linear_value_heads"]), int(axes["linear_value_dim"])
    return (1 + queries) * keys * key * 2 + heads * (value * 2 + 4 + 4)


def delta_out_bytes(axes: Axes) -> int:
    """What comes out for one token."""
    return int(axes["linear_value_heads"]) * int(axes["linear_value_dim"]) * ELEMENT_BYTES[str(axes.get("out", "bf16"))]


def ssd_state_bytes(axes: Axes) -> int:
    """One state of one request under Mamba-2."""
    heads, value, size = (int(axes[f"mamba_{name}"]) for name in ("heads", "head_dim", "state"))
    return heads * value * size * ELEMENT_BYTES[str(axes["state"])]


def ssd_token_bytes(axes: Axes, *, queries: bool = True) -> int:
    """What one token brings: x, dt, b and c."""
    heads, value = int(axes["mamba_heads"]), int(axes["mamba_head_dim"])
    groups, size = int(axes["mamba_groups"]), int(axes["mamba_state"])
    return heads * (value * 2 + 4) + (1 + queries) * groups * size * 2


def ssd_out_bytes(axes: Axes) -> int:
    """What comes out for one token."""
    return int(axes["mamba_heads"]) * int(axes["mamba_head_dim"]) * ELEMENT_BYTES[str(axes.get("out", "bf16"))]


def path_nodes(axes: Axes) -> int:
    """Nodes of the accepted path: its root, and as many drafts as the axis `accepted` says."""
    return min(int(axes.get("accepted", 0)) + 1, int(axes["nodes"]))


def path_bytes(axes: Axes) -> int:
    """The nodes of the path by number, and how many they are."""
    return 4 * (path_nodes(axes) + 1)
