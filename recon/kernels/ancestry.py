"""Draft trees as recurrent layers walk them: who follows whom, told three ways that hold for every layer of a step."""

import random

import torch

from .op import Tensors
from .trees import depth_of, tree_of
from .wire import Axes

MOST_NODES = 64
"""Ancestors of a node are the bits of one word."""
_TOKENS = 1 << 20


def ancestry(axes: Axes, seed: int, device: torch.device) -> Tensors:
    """Trees of the shape that the axes ask for.

    Beside the shapes of draft trees `shape` may be `forest`: every fourth node is a root of its own. What follows no
    node follows what was before the step; padding is that, too.

    Returns:
        parent: int32 [B, T]. Lower than the node; -1 where it follows what was before.
        level: int32 [B, T]. Ancestors of each node.
        ancestors: int64 [B, T]. The node and its ancestors, bit s for node s.
        path: int32 [B, T]. The path that is accepted, its root first, then -1.
        steps: int32 [B]. Nodes on it.
    """
    if int(axes["nodes"]) > MOST_NODES:
        raise ValueError(f"{axes['nodes']} nodes; the ancestors of {MOST_NODES} fit into a word")
    rng = random.Random(seed)  # noqa: S311  a seeded stream of test data, no secret
    forest = axes.get("shape") == "forest"
    shape = "random" if forest else axes.get("shape", "random")
    drawn = {**axes, "vocab": _TOKENS, "shape": shape, "depth": most_drafts(axes)}
    trees = [tree_of(drawn, rng) for _ in range(int(axes["batch"]))]
    parents, paths = [list(tree.parents) for tree in trees], [tree.path for tree in trees]
    if forest:
        parents = [[-1 if node % 4 == 0 else above for node, above in enumerate(tree)] for tree in parents]
        paths = [
            [node for node in path if _root(tree, node) == _root(tree, path[-1])]
            for tree, path in zip(parents, paths, strict=True)
        ]
    ways = [[_ancestors(tree, node) for node in range(len(tree))] for tree in parents]
    nodes = int(axes["nodes"])

    def tensor(rows: list[list[int]], dtype: torch.dtype) -> torch.Tensor:
        return torch.tensor(rows, dtype=dtype, device=device)

    return {
        "parent": tensor(parents, torch.int32),
        "level": tensor([[len(way) - 1 for way in tree] for tree in ways], torch.int32),
        "ancestors": tensor([[_word(way) for way in tree] for tree in ways], torch.int64),
        "path": tensor([path + [-1] * (nodes - len(path)) for path in paths], torch.int32),
        "steps": torch.tensor([len(path) for path in paths], dtype=torch.int32, device=device),
    }


def _ancestors(parents: list[int], node: int) -> list[int]:
    """The node and its ancestors, upwards."""
    way = [node]
    while parents[way[-1]] >= 0:
        way.append(parents[way[-1]])
    return way


def _root(parents: list[int], node: int) -> int:
    return _ancestors(parents, node)[-1]


def _word(nodes: list[int]) -> int:
    """Bits of a signed word of 64."""
    word = sum(1 << node for node in nodes)
    return word - (1 << 64) if word >> 63 else word


def most_drafts(axes: Axes) -> int:
    """Most drafts on one path: a chain is as deep as it is long."""
    return int(axes["nodes"]) - 1 if axes.get("shape") == "chain" else depth_of(axes)


def lanes_of(nodes: int) -> int:
    """Rows of a tile for so many nodes: a power of two that matrix units take."""
    return max(16, 1 << (nodes - 1).bit_length())


def doublings_of(depth: int) -> int:
    """How often pairs of levels must be doubled until one block of levels holds a path of `depth` drafts."""
    return max(0, depth.bit_length() - 1)
