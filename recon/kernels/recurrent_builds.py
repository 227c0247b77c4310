"""Builds of the kernels of recurrent layers for GPUs that are not here, in the shapes that they are timed in."""

from dataclasses import replace
from typing import Any

from .ancestry import lanes_of
from .card import HOPPER, Card
from .op import Build

_BF16 = ("q", "k", "v", "x", "b", "c", "weight", "window", "out")
_INT32 = ("parent", "level", "path", "steps")
TYPES = {
    **{f"{name}_ptr": "*bf16" for name in _BF16},
    **{f"{name}_ptr": "*i32" for name in _INT32},
    "ancestors_ptr": "*i64",
    "scale": "fp32",
}
"""Types by name; all other pointers point to fp32, all other arguments are int32."""
DELTA = {"KEY_HEADS": 16, "VALUE_HEADS": 48, "KEY": 128, "VALUE": 128}
MAMBA = {"GROUPS": 8, "HEADS": 128, "VALUE": 64, "STATE": 128}
HOPPER_ROWS, HOPPER_COLUMNS = 64, 64
"""Rows from which products are those of groups of warps, and the least columns that these may then have."""
WARP_TILE = 128
"""Elements of the least product that a warp makes by itself: 16 rows of 8 columns."""
LEAST_FEATURES = 16
"""Of a head: what matrix units take."""
CHANNELS = 10_240
TILES = (((90,), 64, 128, 4), ((100,), 64, 128, 8), ((120,), 32, 32, 8))
"""Columns of a matrix form's program, features that it multiplies at once, and its warps, by architecture."""


def tiles_of(card: Card, nodes: int, columns: int, programs: int, *, light: bool) -> tuple[tuple[int, int, int], ...]:
    """Columns of a program, features that it multiplies at once, and its warps, to choose from.

    On Hopper at least 64 columns to four warps: below, what Triton 3.6 made of products whose right side is so narrow
    read shared memory behind its end. Elsewhere operands come through registers, a few features at a time. Nowhere more
    warps than a product of so few rows and columns has tiles: where they shared tiles, what Triton 3.6 made of chained
    products of 16 by 16 gave other numbers at each launch.

    Args:
        card: The GPU.
        nodes: Of a tree.
        columns: How many there are.
        programs: Heads of all requests.
        light: Whether registers nearly suffice for twice as many columns, which pay where there are programs enough.

    Raises:
        ValueError: on Hopper there are too few columns for so many nodes.
    """
    if card.capability != HOPPER:
        tiles: tuple[tuple[int, int, int], ...] = ((32, 32, 8), (64, 128, 8))
    elif columns < HOPPER_COLUMNS and lanes_of(nodes) >= HOPPER_ROWS:
        raise ValueError(f"heads of {columns} features with {nodes} nodes are not provided for on this GPU")
    else:
        wide = light and columns > 64 and programs > 2 * card.multiprocessors
        tiles = ((128 if wide else 64, 128, 4),)
    return tuple(
        (block, chunk, min(warps, lanes_of(nodes) * min(block, columns) // WARP_TILE)) for block, chunk, warps in tiles
    )


def refuse_odd(**features: int) -> None:
    """Refuse sizes that no kernel here is made for: of others some columns would be left out.

    Raises:
        ValueError: one is no power of two, or too few for a product.
    """
    for name, size in features.items():
        if size < LEAST_FEATURES or size & (size - 1):
            raise ValueError(
                f"{name} of {size} features are not provided for: of {LEAST_FEATURES}, 32, 64 and so on alone"
            )


def build(variant: str, function: Any, warps: int, **constants: int) -> Build:
    """One build of a Triton function, types by the names of its arguments."""
    types = {
        name: TYPES.get(name, "*fp32" if name.endswith("_ptr") else "i32")
        for name in function.arg_names
        if name not in constants
    }
    return Build(variant, function, types, constants, frozenset(("size",)) & set(types), warps)


def build_for(archs: tuple[int, ...], variant: str, function: Any, warps: int, **constants: int) -> Build:
    """Likewise for some architectures alone."""
    return replace(build(variant, function, warps, **constants), archs=archs)
