"""Many draws of a stochastic kernel on small tables, in one call: the interpreter is slow by calls, not by draws.

As a program it draws with every kernel in the interpreter, and prints the chances of a worse fit as JSON.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence

import torch

from recon.kernels.linear_block.inputs import work_on as block_on
from recon.kernels.linear_stochastic.inputs import work_on as chain_on
from recon.kernels.op import Tensors, Work
from recon.kernels.tree_multi_round.inputs import work_on as rounds_on
from recon.kernels.tree_target_only.inputs import work_on as target_on
from recon.kernels.wire import Axes
from recon.kernels.work import op_of
from tests.kernels.laws import (
    Law,
    Outcome,
    Prefix,
    Tables,
    chance_of_worse,
    law_in_rounds,
    law_of_block,
    law_of_target_only,
    tables,
    target_alone,
)

TEMPERATURE = 0.7
"""Logits are made for it, so that a kernel which forgets it follows another law."""


def drafts(
    given: Tables, parents: Sequence[int], draws: int, *, apart: bool, seed: int, device: torch.device
) -> Tensors:
    """Drafts drawn from the drafter, the logits of both models after each, and coins."""
    generator = torch.Generator(device).manual_seed(seed)
    place = {prefix: number for number, prefix in enumerate(given.target)}
    following = torch.zeros((len(place), given.vocab), dtype=torch.int64, device=device)
    for prefix, number in place.items():
        for token in range(given.vocab):
            following[number, token] = place.get((*prefix, token), 0)

    def uniform(*shape: int) -> torch.Tensor:
        return torch.rand(shape, generator=generator, dtype=torch.float64, device=device)

    target = torch.tensor([list(given.target[prefix]) for prefix in place], dtype=torch.float64, device=device)
    drafter = torch.tensor([list(given.drafter[prefix]) for prefix in place], dtype=torch.float64, device=device)
    nodes = len(parents)
    token = torch.zeros((draws, nodes), dtype=torch.int64, device=device)
    state = torch.zeros((draws, nodes), dtype=torch.int64, device=device)  # prefix of each node
    for node in range(1, nodes):
        above = state[:, parents[node]]
        weights = drafter[above].clone()
        for elder in range(1, node):
            if apart and parents[elder] == parents[node]:
                weights.scatter_(1, token[:, elder : elder + 1], 0.0)
        run = weights.cumsum(1)
        drawn = torch.searchsorted(run, uniform(draws, 1) * run[:, -1:], right=True).clamp(max=given.vocab - 1)
        token[:, node] = drawn[:, 0]
        state[:, node] = following[above, drawn[:, 0]]
    return {
        "logits": (target[state].log() * TEMPERATURE).float(),
        "draft": (drafter[state].log() * TEMPERATURE).float(),
        "token": token,
        "parent": torch.tensor(parents, dtype=torch.int32, device=device).repeat(draws, 1),
        "coin": uniform(draws, nodes).float().clamp(max=1 - 2**-24),
        "last": uniform(draws).float().clamp(max=1 - 2**-24),
        "temperature": torch.full((draws,), TEMPERATURE, dtype=torch.float32, device=device),
    }


def work_of(kernel: str, inputs: Tensors, axes: Axes) -> Work:
    """The inputs that a kernel takes, with room for what it writes."""
    taken = {
        "tree_target_only": ("parent",),
        "tree_multi_round": ("parent", "draft"),
        "linear_stochastic": () if axes.get("drafter") == "none" else ("draft",),
        "linear_block": ("draft",),
    }[kernel]
    mine = {name: inputs[name] for name in ("logits", "token", "coin", "last", "temperature", *taken)}
    if kernel == "tree_target_only":
        return target_on(mine, axes)
    if kernel == "tree_multi_round":
        return rounds_on(mine, axes)
    return block_on(mine) if kernel == "linear_block" else chain_on(mine)


def outcomes(kernel: str, variant: str, work: Work, requests: int) -> Counter[Outcome]:
    """What the draws of one call came to."""
    op_of(kernel).variants[variant].launch(work, {"block": 16, "lanes": 1, "each": 1, "requests": requests})
    accepted, emitted = work.outputs["accepted"], work.outputs["emitted"]
    nodes = emitted.shape[1]
    path = work.outputs.get("path", torch.arange(nodes, device=emitted.device).expand_as(emitted))
    rows = torch.cat([accepted[:, None].long(), path.long(), emitted], 1)
    different, counts = rows.unique(dim=0, return_counts=True)
    found: Counter[Outcome] = Counter()
    for row, count in zip(different.tolist(), counts.tolist(), strict=True):
        steps = row[0]
        found[tuple(row[2 : steps + 2]), tuple(row[1 + nodes : steps + nodes + 2])] += count
    return found


def first_tokens(given: Tables, found: Counter[Outcome], seed: int) -> Counter[Prefix]:
    """First tokens of each draw, as many as the tables are deep, what was not emitted drawn from the target."""
    generator = torch.Generator().manual_seed(seed)
    whole: Counter[Prefix] = Counter()
    left: Counter[Prefix] = Counter()
    for (_, tokens), count in found.items():
        left[tokens] += count
    while left:
        tokens, count = left.popitem()
        if len(tokens) >= given.depth:
            whole[tokens[: given.depth]] += count
            continue
        chances = torch.tensor(given.target[tokens], dtype=torch.float64)
        drawn = torch.multinomial(chances, count, replacement=True, generator=generator).bincount(minlength=given.vocab)
        for token, many in enumerate(drawn.tolist()):
            if many:
                left[*tokens, token] += many
    return whole


CHAIN = [-1, 0, 1, 2]
TREE = [-1, 0, 0, 1, 0, 1, 3]
GIVEN = tables(vocab=4, depth=3, seed=11)
LAWS: dict[str, tuple[str, tuple[str, ...], list[int], Axes, Callable[[Tables], Law]]] = {
    "a tree by the target alone": (
        "tree_target_only",
        ("fused", "lazy"),
        TREE,
        {"nodes": len(TREE), "depth": 3},
        lambda given: law_of_target_only(given, TREE),
    ),
    "a tree in rounds, siblings apart": (
        "tree_multi_round",
        ("fused",),
        TREE,
        {"siblings": "apart"},
        lambda given: law_in_rounds(given, TREE, apart=True),
    ),
    "a tree in rounds, siblings alike": (
        "tree_multi_round",
        ("fused",),
        TREE,
        {"siblings": "alike"},
        lambda given: law_in_rounds(given, TREE, apart=False),
    ),
    "a chain with its drafter": (
        "linear_stochastic",
        ("fused",),
        CHAIN,
        {},
        lambda given: law_in_rounds(given, CHAIN, apart=False),
    ),
    "a chain without its drafter": (
        "linear_stochastic",
        ("fused",),
        CHAIN,
        {"drafter": "none"},
        lambda given: law_of_target_only(given, CHAIN),
    ),
    "a chain as a block": ("linear_block", ("fused",), CHAIN, {}, law_of_block),
}


def chances(name: str, draws: int, device: torch.device, requests: int) -> list[float]:
    """Draw, and hold what came against the law and against the target alone: two chances for each variant."""
    kernel, variants, parents, axes, law_of = LAWS[name]
    law, found = law_of(GIVEN), []
    for number, variant in enumerate(variants):
        apart = axes.get("siblings") != "alike"
        inputs = drafts(GIVEN, parents, draws, apart=apart, seed=number, device=device)
        counts = outcomes(kernel, variant, work_of(kernel, inputs, axes), requests)
        whole = first_tokens(GIVEN, counts, seed=number)
        if not draws == sum(counts.values()) == sum(whole.values()):
            return [0.0]
        found += [chance_of_worse(counts, law), chance_of_worse(whole, target_alone(GIVEN))]
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps({name: chances(name, 20_000, torch.device("cpu"), 32_768) for name in LAWS}))
