"""Exact laws of what stochastic acceptance emits, by enumeration in double precision; nothing here knows the kernels.

A case has tables of the target's and the drafter's distributions after each prefix of drafts, and a small tree. A law
gives the probability of each outcome: the nodes accepted, with the tokens emitted, the last of which is no draft.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

Prefix = tuple[int, ...]
Outcome = tuple[Prefix, Prefix]
"""Nodes accepted, and tokens emitted: one more than nodes."""
Law = dict[Outcome, float]
Key = TypeVar("Key")
FEWEST = 5.0
"""Draws that a cell must let expect; rarer outcomes are counted together."""


@dataclass(frozen=True)
class Tables:
    """Distributions after each prefix, in lists of as many numbers as there are tokens."""

    target: Mapping[Prefix, Sequence[float]]
    drafter: Mapping[Prefix, Sequence[float]]
    vocab: int
    depth: int


def tables(vocab: int, depth: int, seed: int) -> Tables:
    """Random distributions; the drafter's resemble the target's."""
    generator = torch.Generator().manual_seed(seed)
    prefixes: list[Prefix] = [()]
    for _ in range(depth):
        prefixes += [(*prefix, token) for prefix in prefixes for token in range(vocab)]
    target, drafter = {}, {}
    for prefix in dict.fromkeys(prefixes):
        logits = torch.randn(vocab, generator=generator, dtype=torch.float64)
        noise = torch.randn(vocab, generator=generator, dtype=torch.float64)
        target[prefix] = torch.softmax(logits, 0).tolist()
        drafter[prefix] = torch.softmax(logits + 0.8 * noise, 0).tolist()
    return Tables(target, drafter, vocab, depth)


def normal(weights: Sequence[float]) -> list[float]:
    """Weights over their sum; as they are where that is zero."""
    total = math.fsum(weights)
    return [weight / total for weight in weights] if total > 0 else list(weights)


def families(parents: Sequence[int]) -> dict[int, list[int]]:
    """Children of each node."""
    found: dict[int, list[int]] = defaultdict(list)
    for node, parent in enumerate(parents[1:], start=1):
        found[parent].append(node)
    return found


def law_in_rounds(given: Tables, parents: Sequence[int], *, apart: bool) -> Law:
    """Of the rule that subtracts the drafter's distribution after each rejection."""
    children = families(parents)
    law: defaultdict[Outcome, float] = defaultdict(float)

    def at(node: int, prefix: Prefix, nodes: Prefix, weight: float) -> None:
        trial(children[node], given.target[prefix], given.drafter[prefix], prefix, nodes, weight)

    def trial(
        left: list[int], p: Sequence[float], q: Sequence[float], prefix: Prefix, nodes: Prefix, weight: float
    ) -> None:
        if weight == 0.0:
            return
        if not left:
            for token, chance in enumerate(p):
                law[nodes, (*prefix, token)] += weight * chance
            return
        rest = normal([max(a - b, 0.0) for a, b in zip(p, q, strict=True)])
        for token, drawn in enumerate(q):
            taken = min(1.0, p[token] / drawn) if drawn > 0 else 0.0
            if drawn * taken > 0:
                at(left[0], (*prefix, token), (*nodes, left[0]), weight * drawn * taken)
            spent = normal([0.0 if other == token else b for other, b in enumerate(q)]) if apart else q
            if drawn * (1.0 - taken) > 0:
                trial(left[1:], rest, spent, prefix, nodes, weight * drawn * (1.0 - taken))

    at(0, (), (), 1.0)
    return dict(law)


def law_of_target_only(given: Tables, parents: Sequence[int]) -> Law:
    """Of the rule that sets one coin against the running sum of the children's chances; siblings are drawn apart."""
    children = families(parents)
    law: defaultdict[Outcome, float] = defaultdict(float)

    def at(node: int, prefix: Prefix, nodes: Prefix, weight: float) -> None:
        p = given.target[prefix]
        for tokens, drawn in orders(given.drafter[prefix], len(children[node])):
            for child, token in zip(children[node], tokens, strict=True):
                at(child, (*prefix, token), (*nodes, child), weight * drawn * p[token])
            for token, chance in enumerate(p):
                if token not in tokens:
                    law[nodes, (*prefix, token)] += weight * drawn * chance

    at(0, (), (), 1.0)
    return dict(law)


def orders(q: Sequence[float], many: int) -> Iterator[tuple[Prefix, float]]:
    """Tokens drawn without putting back, with the chance of each order."""
    if not many:
        yield (), 1.0
        return
    for token, drawn in enumerate(q):
        rest = normal([0.0 if other == token else weight for other, weight in enumerate(q)])
        for more, chance in orders(rest, many - 1):
            yield (token, *more), drawn * chance


def law_of_block(given: Tables) -> Law:
    """Of block verification of a chain as deep as the tables."""
    law: defaultdict[Outcome, float] = defaultdict(float)

    def drafts(prefix: Prefix, weight: float) -> Iterator[tuple[Prefix, float]]:
        if len(prefix) == given.depth:
            yield prefix, weight
            return
        for token, chance in enumerate(given.drafter[prefix]):
            yield from drafts((*prefix, token), weight * chance)

    for block, weight in drafts((), 1.0):
        shares, chances, rests = [1.0], [1.0], []
        for here in range(given.depth + 1):
            prefix = block[:here]
            p, q = given.target[prefix], given.drafter[prefix]
            whole = here == given.depth
            rest = list(p) if whole else [max(shares[-1] * a - b, 0.0) for a, b in zip(p, q, strict=True)]
            rests.append(normal(rest))
            if here:
                left = math.fsum(rest)
                chances.append(shares[-1] if whole else left / (left + 1.0 - shares[-1]))
            if not whole:
                shares.append(min(1.0, shares[-1] * p[block[here]] / q[block[here]]))
        unclaimed = weight
        for here in range(given.depth, -1, -1):  # the longest that its coin allows
            for token, chance in enumerate(rests[here]):
                outcome = tuple(range(1, here + 1)), (*block[:here], token)
                law[outcome] += unclaimed * chances[here] * chance
            unclaimed *= 1.0 - chances[here]
    return dict(law)


def completed(given: Tables, law: Law) -> dict[Prefix, float]:
    """Law of the first tokens, as many as the tables are deep: what was not emitted is drawn from the target."""
    found: defaultdict[Prefix, float] = defaultdict(float)

    def complete(tokens: Prefix, weight: float) -> None:
        if len(tokens) >= given.depth:
            found[tokens[: given.depth]] += weight
            return
        for token, chance in enumerate(given.target[tokens]):
            complete((*tokens, token), weight * chance)

    for (_, tokens), weight in law.items():
        complete(tokens, weight)
    return dict(found)


def target_alone(given: Tables) -> dict[Prefix, float]:
    """Law of as many tokens, drawn from the target one after another."""
    return completed(given, {((), ()): 1.0})


def chance_of_worse(counts: Counter[Key], law: dict[Key, float]) -> float:
    """Probability of a fit no better than this by chance alone (Pearson's chi-square); 0 for what cannot happen."""
    draws = sum(counts.values())
    if any(law.get(outcome, 0.0) <= 0.0 for outcome in counts):
        return 0.0
    cells = [(draws * chance, counts.get(outcome, 0)) for outcome, chance in law.items()]
    common = [(expected, seen) for expected, seen in cells if expected >= FEWEST]
    rare = [(expected, seen) for expected, seen in cells if expected < FEWEST]
    if rare:
        common.append((sum(expected for expected, _ in rare), sum(seen for _, seen in rare)))
    statistic = math.fsum((seen - expected) ** 2 / expected for expected, seen in common if expected > 0)
    freedom = len(common) - 1
    half = torch.tensor([freedom / 2, statistic / 2], dtype=torch.float64)
    return torch.special.gammaincc(half[0], half[1]).item() if freedom else 1.0
