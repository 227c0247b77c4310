"""A paged KV cache for all layers, and paths in it that were accepted.

The cache is changed in place, so it counts as scratch, and what it holds can be made again from the seed.
"""

import random

import torch

from ..op import Work
from ..wire import Axes
from . import spec


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Lists of moves, a table of the addresses of all buffers, and the cache.

    Returns:
        inputs: source and target int32 [B, W], count int32 [B], and of those that hold flat_source and flat_target
            int64 [rows], in rows from the beginning of a buffer; table int64 [2 * layers].
        scratch: cache int32, [2 * layers, pages, page, words], or with the layout `paired`, where keys and values lie
            beside each other in each page, [layers, pages, 2, page, words].
    """
    rng = random.Random(seed)  # noqa: S311  a seeded stream of test data, no secret
    batch, nodes, page = int(axes["batch"]), int(axes["nodes"]), int(axes.get("page", 16))
    width = int(axes.get("width", nodes))
    each = -(-nodes // page)
    pages = rng.sample(range(batch * each + 1), batch * each)
    source, target = ([[rng.randrange(1 << 20) for _ in range(width)] for _ in range(batch)] for _ in range(2))
    counts = []
    for request in range(batch):
        own = pages[request * each : (request + 1) * each]
        slots = [own[place // page] * page + place % page for place in range(nodes)]
        moves = _moves(axes, rng)
        counts.append(len(moves))
        for number, (here, there) in enumerate(moves):
            source[request][number], target[request][number] = slots[here], slots[there]
    stride = page * (2 if axes.get("layout") == "paired" else 1)
    held = [(request, number) for request, many in enumerate(counts) for number in range(many)]
    flat = {
        f"flat_{name}": torch.tensor(
            [lists[r][n] // page * stride + lists[r][n] % page for r, n in held], dtype=torch.int64, device=device
        )
        for name, lists in (("source", source), ("target", target))
    }
    lists = {"source": source, "target": target, "count": counts}
    inputs = {name: torch.tensor(values, dtype=torch.int32, device=device) for name, values in lists.items()}
    inputs |= flat | {"table": torch.empty(spec.buffers_of(axes), dtype=torch.int64, device=device)}
    cache = torch.empty(_shape(axes), dtype=torch.int32, device=device)
    work = Work(inputs, {}, {"cache": cache}, {**axes, "seed": seed})
    reset(work)
    return work


def _shape(axes: Axes) -> tuple[int, ...]:
    page, words, buffers = int(axes.get("page", 16)), spec.words_of(axes), spec.buffers_of(axes)
    pages = spec.slots_of(axes) // page
    return (buffers // 2, pages, 2, page, words) if axes.get("layout") == "paired" else (buffers, pages, page, words)


def _moves(axes: Axes, rng: random.Random) -> list[tuple[int, int]]:
    """Where from and where to, in places of a request's draft block, for one request."""
    nodes, accepted = int(axes["nodes"]), int(axes["accepted"])
    many = rng.randrange(nodes) if accepted < 0 else accepted
    match str(axes.get("moves", "apart")):
        case "apart":  # no slot is both: doing it twice is doing it once
            return list(zip(sorted(rng.sample(range(many, nodes), many)), range(many), strict=True))
        case "path":  # nodes of a path ascend, and none lies before its own target
            return list(zip(sorted(rng.sample(range(nodes), many)), range(many), strict=True))
        case "forward":  # each row comes from the slot after its own
            return [(place + 1, place) for place in range(many)]
        case "backward":
            return [(place, place + 1) for place in range(many)]
        case "same":
            return [(place, place) for place in range(many)]
        case _:
            return list(zip(rng.sample(range(nodes), many), rng.sample(range(nodes), many), strict=True))


def reset(work: Work) -> None:
    """Fill the cache anew, and the table with the addresses at which it lies."""
    cache = work.scratch["cache"]
    cache.copy_(content(cache, int(work.axes["seed"])))
    table = [buffer.data_ptr() for buffer in buffers_of(cache)]
    work.inputs["table"].copy_(torch.tensor(table, dtype=torch.int64))


def content(cache: torch.Tensor, seed: int) -> torch.Tensor:
    """What a cache holds before anything moved: random words."""
    generator = torch.Generator(cache.device).manual_seed(seed)
    return torch.randint(-(1 << 31), 1 << 31, cache.shape, generator=generator, dtype=torch.int32, device=cache.device)


def buffers_of(cache: torch.Tensor) -> list[torch.Tensor]:
    """Keys and values of each layer, [pages, page, words] each."""
    if cache.dim() == 4:
        return list(cache)
    return [layer[:, which] for layer in cache for which in range(2)]
