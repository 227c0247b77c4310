"""How rows of logits are cut into slices, one program each, and the scratch memory in which slices meet."""

import torch

from .card import Card
from .wire import Axes

NOTHING = -(1 << 63)
"""Packed value lower than every other: the initial state of a row, and what the kernels leave behind."""
BLOCKS = ((2048, 4), (1024, 2))
"""Elements read at once by one program, with its warps: sixteen to a lane."""
MOST_SPLITS = 128
"""Slices of one row at most: each ends in two atomic operations."""
NODE_LANES = (8, 64, 256)
"""Lanes that walk a request's nodes; few sizes, so that few kernels are compiled."""
_SLICE_MULTIPLE = 64  # elements; keeps slices on 128-byte lines for two-byte logits


def scratch_of(batch: int, nodes: int, device: torch.device) -> dict[str, torch.Tensor]:
    """Packed best of each row and slices arrived of each request, in the state that a launch expects and restores.

    `target` and `unused` serve variants whose argmax is a launch of its own; they have no state to restore.
    """
    return {
        "target": torch.empty((batch, nodes), dtype=torch.int64, device=device),
        "unused": torch.full((), -1, dtype=torch.int64, device=device),
        "best": torch.full((batch, nodes), NOTHING, dtype=torch.int64, device=device),
        "arrived": torch.zeros(batch, dtype=torch.int32, device=device),
    }


def lazy_scratch_of(batch: int, depth: int, device: torch.device) -> dict[str, torch.Tensor]:
    """Node visited at each level, -1 where there is none, and packed bests of slices; no state to restore."""
    return {
        "here": torch.empty((depth + 2, batch), dtype=torch.int32, device=device),
        "slices": torch.empty((2, batch, MOST_SPLITS), dtype=torch.int64, device=device),
    }


def chunk_of(vocab: int, splits: int) -> int:
    """Elements in one slice."""
    return -(-vocab // splits // _SLICE_MULTIPLE) * _SLICE_MULTIPLE if splits > 1 else vocab


def configs(axes: Axes, card: Card) -> tuple[Axes, ...]:
    """Ways to cut rows into slices: from four programs on a multiprocessor upwards, in powers of two."""
    rows = int(axes["batch"]) * int(axes["nodes"])
    return _cut(int(axes["vocab"]), 4 * card.multiprocessors // rows, (2, 4, 1, 8))


def lazy_configs(axes: Axes, card: Card) -> tuple[Axes, ...]:
    """Likewise the one row that each request reads in a launch: from two programs on a multiprocessor upwards."""
    return _cut(int(axes["vocab"]), 2 * card.multiprocessors // int(axes["batch"]), (1, 2, 4))


def _cut(vocab: int, slices: int, times: tuple[int, ...]) -> tuple[Axes, ...]:
    least = 1 << max(0, slices.bit_length() - 1)
    chosen: list[Axes] = []
    for block, warps in BLOCKS:
        most = min(MOST_SPLITS, max(1, vocab // block))
        cuts = dict.fromkeys(min(least * each, most) for each in times)
        chosen += [{"splits": splits, "block": block, "warps": warps} for splits in cuts]
    return tuple(chosen)


def node_lanes(nodes: int) -> int:
    """Lanes for so many nodes, a power of two."""
    for lanes in NODE_LANES:
        if nodes <= lanes:
            return lanes
    return 1 << (nodes - 1).bit_length()


def scratch_left(scratch: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Scratch as a launch must leave it, or a replay would go wrong."""
    return {
        "best": torch.full_like(scratch["best"], NOTHING),
        "arrived": torch.zeros_like(scratch["arrived"]),
    }
