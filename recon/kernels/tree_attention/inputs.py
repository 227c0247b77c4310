"""Tensors for a case of verification attention: a paged cache, queries of draft nodes, and the trees they stand in."""

import random

import torch

from ..op import Work
from ..trees import DTYPES, tree_of
from ..wire import Axes
from .spec import PAGE, WORD, part_rows_of

SMALL_TREE = (-1, 0, 1, 1, 2, 2, 4, 5)
"""Parents of the tree of eight nodes that is timed: a random one of that size may be a chain."""
KV_TYPES = {**DTYPES, "fp8": torch.float8_e4m3fn}


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Seeded queries, cache, table, lengths, trees and masks, and empty outputs."""
    batch, nodes = int(axes["batch"]), int(axes["nodes"])
    heads, kv_heads, dim = int(axes["heads"]), int(axes["kv_heads"]), int(axes["head_dim"])
    rng = random.Random(seed)  # noqa: S311  a seeded stream of test data, no secret
    lengths = lengths_of(axes, rng)
    per_request = -(-(max(lengths) + nodes) // PAGE)
    pages = batch * per_request
    generator = torch.Generator(device).manual_seed(seed)
    kind = DTYPES[str(axes["dtype"])]

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=kind, device=device)

    table = torch.tensor(rng.sample(range(pages), pages), dtype=torch.int32, device=device).view(batch, per_request)
    parents = [parents_of(axes, rng) for _ in range(batch)]
    inputs = {
        "q": normal(batch, nodes, heads, dim),
        "k": normal(pages, PAGE, kv_heads, dim),
        "v": normal(pages, PAGE, kv_heads, dim),
        "table": table,
        "length": torch.tensor(lengths, dtype=torch.int32, device=device),
        "mask": torch.tensor([mask_of(each) for each in parents], dtype=torch.int64, device=device),
    }
    _spoil_beyond(inputs, lengths, nodes)
    if axes.get("values") == "draft":
        _silence_contexts(inputs, lengths)
    for name in ("k", "v"):
        inputs[name] = inputs[name].to(KV_TYPES[str(axes["kv"])])
    inputs["bits"] = inputs["mask"].view(torch.int32)
    inputs |= cascade_of(inputs, parents)
    shape = (batch, nodes, heads, dim)
    outputs = {name: torch.empty(shape, dtype=kind, device=device) for name in ("tree", "chain")}
    rows = part_rows_of(axes)
    scratch = {
        "part": torch.empty((rows, dim), dtype=torch.float32, device=device),
        "log": torch.empty(rows, dtype=torch.float32, device=device),
    }
    return Work(inputs, outputs, scratch, axes)


def cascade_of(inputs: dict[str, torch.Tensor], parents: list[list[int]]) -> dict[str, torch.Tensor]:
    """What a cascade is told beside the masks: sequences, and for each node where in the cache lies what it sees.

    Returns:
        starts int32 [B + 1] and each int32 [B * N + 1], first rows of requests and of nodes; ends int32 [B], tokens of
        context and draft; slots int32 [B * N, N], tokens of the cache that a node sees; seen int32 [B * N], how many.
    """
    table, length = inputs["table"], inputs["length"]
    batch, nodes = len(parents), len(parents[0])
    node = torch.arange(nodes, device=table.device)
    sees = (inputs["mask"][:, :, node // WORD] >> (node % WORD) & 1).bool()
    token = length[:, None] + node
    slot = table.gather(1, (token // PAGE).long()) * PAGE + token % PAGE
    order = (~sees).int().argsort(dim=-1, stable=True)
    return {
        "starts": torch.arange(batch + 1, dtype=torch.int32, device=table.device) * nodes,
        "each": torch.arange(batch * nodes + 1, dtype=torch.int32, device=table.device),
        "ends": (length + nodes).int(),
        "slots": slot[:, None, :].expand(sees.shape).gather(2, order).flatten(0, 1).int().contiguous(),
        "seen": sees.sum(-1).flatten().int(),
    }


def lengths_of(axes: Axes, rng: random.Random) -> list[int]:
    """Tokens of each context: all alike, or `ragged`, the first as long as the axis says and one empty."""
    batch, context = int(axes["batch"]), int(axes["context"])
    if axes.get("lengths") != "ragged":
        return [context] * batch
    drawn = [context, 0, *(rng.randrange(context + 1) for _ in range(batch))]
    return drawn[:batch]


def parents_of(axes: Axes, rng: random.Random) -> list[int]:
    """Parent of each node of one request's tree."""
    if axes.get("shape", "random") == "random" and int(axes["nodes"]) == len(SMALL_TREE):
        return list(SMALL_TREE)
    return tree_of({"vocab": 1 << 20, **axes}, rng).parents


def mask_of(parents: list[int]) -> list[list[int]]:
    """Words of 64 bits for each node, as int64: it sees itself and its ancestors. What is padding sees itself."""
    rows: list[int] = []
    for node, parent in enumerate(parents):
        rows.append((rows[parent] if parent >= 0 else 0) | 1 << node)
    words = -(-len(parents) // WORD)
    return [[_signed(row >> WORD * word & (1 << WORD) - 1) for word in range(words)] for row in rows]


def _signed(word: int) -> int:
    return word - (1 << WORD) if word >> WORD - 1 else word


def _slots(table: torch.Tensor, length: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Page and place within it of the tokens of one request from `length` to `end`."""
    token = torch.arange(length, end, device=table.device)
    return table[token // PAGE].long(), token % PAGE


def _spoil_beyond(inputs: dict[str, torch.Tensor], lengths: list[int], nodes: int) -> None:
    """Put NaN where no token is: nobody may read it, or must not mind."""
    for request, length in enumerate(lengths):
        table = inputs["table"][request]
        page, place = _slots(table, length + nodes, len(table) * PAGE)
        inputs["k"][page, place] = float("nan")
        inputs["v"][page, place] = float("nan")


def _silence_contexts(inputs: dict[str, torch.Tensor], lengths: list[int]) -> None:
    """Set the values of contexts to zero, so that the output is what the draft alone adds."""
    for request, length in enumerate(lengths):
        page, place = _slots(inputs["table"][request], 0, length)
        inputs["v"][page, place] = 0.0
