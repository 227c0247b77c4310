"""A target that draws its tokens, a drafter that guesses them, and an engine that walks trees of tokens: by hand."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from recon.estimates.trace import Header, Position
from tests.estimates.traces import best_prefixes

VOCABULARY, BLOCK = 6, 3
HEADER = Header("", "drawn", BLOCK, VOCABULARY, 1.0, 1.0, 1, "")


@dataclass(frozen=True)
class Style:
    """How one kind of request is written: the surer the target, the further drafts get."""

    sureness: float
    chances: list[list[float]] = field(default_factory=list)
    """[VOCABULARY][VOCABULARY]: the target's chances of each token after each."""

    @cached_property
    def said(self) -> list[tuple[list[list[int]], list[list[float]]]]:
        """After each token what the drafter says: [BLOCK][VOCABULARY] tokens, the best first, and log-probabilities.

        It knows how likely the target is to be at a token so many steps on, whatever lies between, and errs a little.
        """
        rng, found = random.Random(int(1000 * self.sureness)), []
        for token in range(VOCABULARY):
            there = [float(each == token) for each in range(VOCABULARY)]
            tokens, rows = [], []
            for _ in range(BLOCK):
                there = [sum(a * row[b] for a, row in zip(there, self.chances, strict=True)) for b in range(VOCABULARY)]
                guess = [math.log(chance) + rng.gauss(0, 0.3) for chance in there]
                norm = math.log(sum(map(math.exp, guess)))
                best = sorted(range(VOCABULARY), key=lambda each: -guess[each])
                tokens.append(best)
                rows.append([guess[each] - norm for each in best])
            found.append((tokens, rows))
        return found

    def draw(self, rng: random.Random, token: int) -> int:
        """What the target says after a token."""
        return rng.choices(range(VOCABULARY), self.chances[token])[0]


def styles() -> list[Style]:
    """Three kinds of requests, from hard to easy."""
    rng, found = random.Random(11), []
    for sureness in (0.5, 1.5, 3.0):
        weights = [[math.exp(sureness * rng.gauss(0, 1)) for _ in range(VOCABULARY)] for _ in range(VOCABULARY)]
        found.append(Style(sureness, [[each / sum(row) for each in row] for row in weights]))
    return found


def served(style: Style, rng: random.Random, length: int, nodes: int) -> int:
    """Rounds of one request in an engine: at each node the target draws, and goes on where its token is a child."""
    trees = _trees(style, nodes)
    last, written, rounds = rng.randrange(VOCABULARY), 0, 0
    walked: tuple[int, ...]
    while written < length:
        children, walked = trees[last], ()
        while written < length:
            last = style.draw(rng, last)
            walked, written = (*walked, last), written + 1
            if walked not in children:
                break
        rounds += 1
    return rounds


def _trees(style: Style, nodes: int) -> list[set[tuple[int, ...]]]:
    key = (style.sureness, nodes)
    if key not in _KEPT:
        _KEPT[key] = [
            {tuple(tokens[depth][rank] for depth, rank in enumerate(path)) for path in best_prefixes(rows, nodes)}
            for tokens, rows in style.said
        ]
    return _KEPT[key]


_KEPT: dict[tuple[float, int], list[set[tuple[int, ...]]]] = {}


def positions(requests: list[Style], rng: random.Random, length: int) -> Iterator[Position]:
    """What a trace holds of requests that the target wrote without drafts."""
    for number, style in enumerate(requests):
        text = [rng.randrange(VOCABULARY)]
        while len(text) <= length:
            text.append(style.draw(rng, text[-1]))
        for place in range(length):
            tokens, rows = style.said[text[place]]
            real = text[place + 1 : place + 1 + BLOCK]
            yield Position(number, place, tuple(row.index(each) for row, each in zip(tokens, real, strict=False)), rows)
