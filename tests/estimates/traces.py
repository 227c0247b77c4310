"""Traces by hand: drafters and targets that are drawn, and what really happens with a tree, token by token."""

import itertools
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from recon.estimates.trees import Rows


@dataclass(frozen=True)
class Round:
    """What a drafter says at one position: tokens and their log-probabilities, depth by depth, the best first."""

    tokens: list[list[int]]
    rows: list[list[float]]


@dataclass(frozen=True)
class Text:
    """What a target wrote, and what the drafter said before each of its tokens."""

    tokens: list[int]
    drafts: list[Round]


VOCABULARY = 16

Definition = Callable[[Rows, int], list[tuple[int, ...]]]
"""What a tree under a budget consists of, by paths of ranks."""


def text(rng: random.Random, length: int, *, block: int, width: int, mood: float = 0.0) -> Text:
    """A text whose drafter is better in some places than in others, and better near than far.

    `mood` shifts how well it does; within a text it drifts.
    """
    tokens = [rng.randrange(VOCABULARY) for _ in range(length)]
    drafts = []
    for at in range(length):
        mood = 0.9 * mood + rng.gauss(0, 0.3)
        left = [tokens[at + depth] if at + depth < length else rng.randrange(VOCABULARY) for depth in range(block)]
        drafts.append(_round(rng, left, width, mood))
    return Text(tokens, drafts)


def _round(rng: random.Random, real: Sequence[int], width: int, mood: float) -> Round:
    said = Round([], [])
    for depth, token in enumerate(real):
        scores = [rng.gauss(0, 1) for _ in range(VOCABULARY)]
        scores[token] += max(0.0, 3.2 - 0.35 * depth + 1.5 * mood)
        norm = math.log(sum(map(math.exp, scores)))
        best = sorted(range(VOCABULARY), key=lambda each: -scores[each])[:width]
        said.tokens.append(best)
        said.rows.append([scores[each] - norm for each in best])
    return said


def trace_of(texts: Sequence[Text], *, block: int, width: int, temperature: float = 0.0) -> Iterator[str]:
    """The texts as the lines of a trace."""
    yield json.dumps({"v": 1, "L": block, "K": width, "T": temperature, "drafter": "drawn"})
    for request, each in enumerate(texts):
        for at, said in enumerate(each.drafts):
            real = each.tokens[at : at + block]
            ranks = [best.index(token) if token in best else -1 for best, token in zip(said.tokens, real, strict=False)]
            yield json.dumps({"r": request, "p": 100 + at, "rank": ranks, "lp": said.rows})


def best_prefixes(rows: Rows, nodes: int) -> list[tuple[int, ...]]:
    """By definition: of all paths of ranks the likeliest ones."""
    everything = [
        path
        for depth in range(1, len(rows) + 1)
        for path in itertools.product(*(range(len(row)) for row in rows[:depth]))
    ]
    return sorted(everything, key=lambda path: -sum(rows[depth][rank] for depth, rank in enumerate(path)))[:nodes]


def spine_first(rows: Rows, nodes: int) -> list[tuple[int, ...]]:
    """By definition: the chain of best tokens, then the likeliest of the other paths."""
    spine = [(0,) * depth for depth in range(1, len(rows) + 1)]
    others = [path for path in best_prefixes(rows, 10**9) if any(path)]
    return (spine + others)[:nodes]


def simulated(each: Text, nodes: int, built: Definition) -> tuple[int, int]:
    """Tokens and rounds: a tree is built of tokens, and the target goes down as long as its own token is a child."""
    at = rounds = 0
    while at < len(each.tokens):
        said = each.drafts[at]
        paths = built(said.rows, nodes)
        children = {tuple(said.tokens[depth][rank] for depth, rank in enumerate(path)) for path in paths}
        walked: tuple[int, ...] = ()
        while at < len(each.tokens):
            walked = (*walked, each.tokens[at])
            at += 1  # drafted, or what the target says where no draft stands
            if walked not in children:
                break
        rounds += 1
    return len(each.tokens), rounds
