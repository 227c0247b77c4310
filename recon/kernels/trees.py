"""Draft trees and logits to go with them: seeded, with an accepted path that is planted."""

import math
import random
from dataclasses import dataclass

import torch

from .wire import Axes

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
DEEPEST = -1
"""As the axis `accepted`: plant the path to the deepest node."""
PLANTED = 40.0  # far above any standard normal value, and exact in every dtype
DRAWN = frozenset(("drawn", "masked"))
"""As the axis `values`: nothing is planted, drafts are likely enough that chance decides; `masked` has -inf as well."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One request's draft tree; node 0 is the root, the last token that was accepted."""

    parents: list[int]
    """Parent of each node: -1 for the root and for padding, else lower than the node."""
    tokens: list[int]
    path: list[int]
    """Nodes of the planted path from the root on."""


def drafter(axes: Axes, seed: int, made: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Logits of a drafter that is nearly right: those of the target, disturbed; a path that was planted stays so."""
    noise = _logits({**axes, "values": "normal"}, seed + 2, made["logits"].device)
    logits = made["logits"] + noise
    return {"draft": logits.contiguous() if axes.get("layout") is None else logits}


def tree_of(axes: Axes, rng: random.Random) -> Tree:
    """A tree of the shape that the axes ask for, siblings with distinct tokens.

    `shape` is `random`, `chain`, `star` or `padded` (a random tree whose last third of nodes is padding); no path is
    longer than `depth`. A tree whose vocabulary is smaller than a node's children would be has as few children there as
    there are tokens.
    """
    nodes, vocab, shape = int(axes["nodes"]), int(axes["vocab"]), str(axes.get("shape", "random"))
    real = nodes - nodes // 3 if shape == "padded" else nodes
    parents = _parents(real, vocab, shape, accepted=int(axes.get("accepted", 0)), depth=depth_of(axes), rng=rng)
    tokens = _tokens(parents, vocab, rng)
    path = _path(parents, int(axes.get("accepted", 0)))
    padding = nodes - real
    return Tree(parents + [-1] * padding, tokens + [0] * padding, path)


def depth_of(axes: Axes) -> int:
    """Most drafts on one path, as whoever plans the launches is told."""
    return min(int(axes.get("depth", axes["nodes"])), int(axes["nodes"]) - 1)


def _parents(nodes: int, vocab: int, shape: str, *, accepted: int, depth: int, rng: random.Random) -> list[int]:
    """Parents with at most `vocab` children each, holding a path of `accepted` nodes where the shape allows one."""
    parents, depths = [-1], [0]
    children = [0] * nodes
    spine = sorted(rng.sample(range(1, nodes), min(max(accepted, 0), nodes - 1, depth)))
    last = 0
    for node in range(1, nodes):
        if shape == "chain":
            parent = node - 1
        elif shape == "star":
            parent = 0
        elif node in spine:
            parent, last = last, node
        else:
            parent = rng.randrange(node)
        if children[parent] >= vocab or depths[parent] >= depth:
            parent = next(
                other for other in range(node - 1, -1, -1) if children[other] < vocab and depths[other] < depth
            )
        children[parent] += 1
        parents.append(parent)
        depths.append(depths[parent] + 1)
    return parents


def _tokens(parents: list[int], vocab: int, rng: random.Random) -> list[int]:
    tokens = [rng.randrange(vocab) for _ in parents]
    families: dict[int, list[int]] = {}
    for node, parent in enumerate(parents[1:], start=1):
        families.setdefault(parent, []).append(node)
    for family in families.values():
        for node, token in zip(family, rng.sample(range(vocab), len(family)), strict=True):
            tokens[node] = token
    return tokens


def _path(parents: list[int], accepted: int) -> list[int]:
    """Path from the root to the first node at depth `accepted`, or to the deepest node if none is that deep."""
    depths = [0]
    for parent in parents[1:]:
        depths.append(depths[parent] + 1)
    deepest = max(depths)
    depth = deepest if accepted == DEEPEST else min(accepted, deepest)
    path = [depths.index(depth)]
    while path[-1]:
        path.append(parents[path[-1]])
    return path[::-1]


def draft(axes: Axes, seed: int, device: torch.device) -> dict[str, torch.Tensor]:
    """Logits of the target with the draft trees that it judges.

    Returns:
        logits [B, N, V] of `dtype`, in the memory `layout` asked for; token int64 [B, N]; parent int32 [B, N].
    """
    rng = random.Random(seed)  # noqa: S311  a seeded stream of test data, no secret
    trees = [tree_of(axes, rng) for _ in range(int(axes["batch"]))]
    logits = _logits(axes, seed, device)
    token = torch.tensor([tree.tokens for tree in trees], dtype=torch.int64, device=device)
    parent = torch.tensor([tree.parents for tree in trees], dtype=torch.int32, device=device)
    values = str(axes.get("values", "normal"))
    if values in DRAWN:
        _favour(logits, token, parent, values)
    else:
        for request, tree in enumerate(trees):
            _plant(logits[request], tree, int(axes["vocab"]), rng)
        _spoil(logits, values, rng)
    return {"logits": logits, "token": token, "parent": parent}


def draws(axes: Axes, seed: int, device: torch.device) -> dict[str, torch.Tensor]:
    """What chance decides by: coins for each node, one for the last token of each request, and temperatures.

    Returns:
        coin float32 [B, N] and last float32 [B], uniform in [0, 1); temperature float32 [B], the one that the axis of
        that name fixes for all or from 0.5 to 1.5.
    """
    batch, nodes = int(axes["batch"]), int(axes["nodes"])
    generator = torch.Generator(device).manual_seed(seed + 1)

    def uniform(*shape: int) -> torch.Tensor:
        return torch.rand(shape, generator=generator, dtype=torch.float32, device=device)

    temperature = 0.5 + uniform(batch)
    if "temperature" in axes:
        temperature.fill_(float(axes["temperature"]))
    return {"coin": uniform(batch, nodes), "last": uniform(batch), "temperature": temperature}


def _logits(axes: Axes, seed: int, device: torch.device) -> torch.Tensor:
    """Standard normal values, or values with many ties, in one of the layouts that a caller may hold."""
    batch, nodes, vocab = int(axes["batch"]), int(axes["nodes"]), int(axes["vocab"])
    layout, dtype = str(axes.get("layout", "contiguous")), DTYPES[str(axes["dtype"])]
    generator = torch.Generator(device).manual_seed(seed)
    shape = {
        "contiguous": (batch, nodes, vocab),
        "padded": (batch, nodes, vocab + 3),
        "node_major": (nodes, batch, vocab),
        "strided": (batch, nodes, vocab, 2),
    }[layout]
    logits = torch.randn(shape, generator=generator, dtype=dtype, device=device)
    if axes.get("values") == "ties":
        logits = logits.round_()
    if layout == "node_major":
        return logits.transpose(0, 1)
    return logits[..., 0] if layout == "strided" else logits[..., :vocab]


def _favour(logits: torch.Tensor, token: torch.Tensor, parent: torch.Tensor, values: str) -> None:
    """Give each draft a fair chance at its parent, and forbid every second token that is no draft where asked to."""
    batch, _, vocab = logits.shape
    if values == "masked":
        logits[..., torch.arange(vocab, device=logits.device) % 2 == 1] = float("-inf")
    request = torch.arange(batch, device=logits.device)[:, None].expand_as(parent)
    hangs = parent >= 0
    logits[request[hangs], parent[hangs].long(), token[hangs]] = math.log(vocab) + 1.0  # about a third, if it is alone


def _plant(logits: torch.Tensor, tree: Tree, vocab: int, rng: random.Random) -> None:
    """Make the target choose the planted path, and at its end a token that no child holds, where there is one."""
    rows, choices = list(tree.path), [tree.tokens[node] for node in tree.path[1:]]
    taken = {token for token, parent in zip(tree.tokens, tree.parents, strict=True) if parent == tree.path[-1]}
    if len(taken) < vocab:
        choices.append(next(token for token in iter(lambda: rng.randrange(vocab), None) if token not in taken))
    for row, choice in zip(rows, choices, strict=False):
        logits[row, choice] = PLANTED


def _spoil(logits: torch.Tensor, values: str, rng: random.Random) -> None:
    """Put values in that a comparison may get wrong; rows are drawn, so that planted ones may be hit too."""
    batch, nodes, vocab = logits.shape
    for _ in range(batch * nodes if values in {"nan", "infinite", "negative", "zeros"} else 0):
        request, node = rng.randrange(batch), rng.randrange(nodes)
        places = [rng.randrange(vocab) for _ in range(2)]
        if values == "nan":
            signs = torch.tensor([float("nan"), -float("nan")], dtype=logits.dtype, device=logits.device)
            for place, value in zip(places, signs, strict=True):
                logits[request, node, place] = value
        elif values == "infinite":
            logits[request, node, places[0]] = rng.choice([float("inf"), float("-inf")])
            if rng.random() < 1 / 2:
                logits[request, node] = float("-inf")
        elif values == "negative":
            logits[request, node].abs_().neg_()
        else:  # the largest values are zeros of either sign
            logits[request, node].abs_().neg_()
            logits[request, node, places[0]] = 0.0
            logits[request, node, places[1]] = -0.0
