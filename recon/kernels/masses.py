"""How rows are cut into blocks whose masses are kept, and how much of that one program does."""

import torch

from .card import Card
from .wire import Axes

BLOCK = 2048
"""Elements of one block."""
WARPS = 4
LEAST_LANES = 128
"""Lanes for the blocks of a row: enough for any vocabulary up to 262,144, so that few kernels are compiled."""
_PROGRAMS = 8
"""For each multiprocessor, where there is so much to do."""


def masses_of(rows: tuple[int, ...], vocab: int, device: torch.device, prefix: str = "") -> dict[str, torch.Tensor]:
    """Room for top and mass of each block of rows; no state to restore."""
    shape = (*rows, blocks_of(vocab))
    return {
        f"{prefix}tops": torch.empty(shape, dtype=torch.float32, device=device),
        f"{prefix}masses": torch.empty(shape, dtype=torch.float32, device=device),
    }


def blocks_of(vocab: int, block: int = BLOCK) -> int:
    """Blocks in a row."""
    return -(-vocab // block)


def block_lanes(vocab: int) -> int:
    """Lanes for the blocks of a row, a power of two."""
    return max(LEAST_LANES, 1 << (blocks_of(vocab) - 1).bit_length())


def configs(axes: Axes, card: Card) -> tuple[Axes, ...]:
    """How many blocks a program takes on, and how many requests: of those one, except in the interpreter."""
    blocks = int(axes["batch"]) * int(axes["nodes"]) * blocks_of(int(axes["vocab"]))
    whole = blocks_of(int(axes["vocab"]))
    full = blocks // (_PROGRAMS * card.multiprocessors)
    cuts = dict.fromkeys(min(whole, max(1, each)) for each in (full // 2, full))
    requests = 1 if card.multiprocessors > 1 else 8  # the interpreter is slow for each program
    lanes = block_lanes(int(axes["vocab"]))
    return tuple({"block": BLOCK, "lanes": lanes, "each": each, "requests": requests} for each in cuts)


def lazy_configs(axes: Axes, card: Card) -> tuple[Axes, ...]:
    """Likewise for the one row that each request reads in a launch."""
    return configs({**axes, "nodes": 1}, card)
