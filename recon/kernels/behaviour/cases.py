"""Crafted requests: each tells rules apart that agree on most others."""

import random
from collections.abc import Sequence

from .laws import Row, Situation

VOCAB = 16
CHAIN = (-1, 0, 1, 2)
TREE = (-1, 0, 0, 0, 1, 1, 2, 6)
"""Children of the root: 1, 2, 3; of 1: 4, 5; of 2: 6; of 6: 7."""
_SURE = 1.0 - 1e-6


def sure_chains(seed: int) -> list[Situation]:
    """Chains on which target and draft are sure of one token: what is drawn is then known."""
    rng = random.Random(seed)  # noqa: S311  no secrets here
    made = []
    forced = 1 + seed % 2
    for name, wrong in (
        ("all match", ()),
        ("mismatch at the root", (0,)),
        ("mismatch at the second", (1,)),
        ("mismatch at the last", (2,)),
        ("only the last matches", (0, 1)),
        ("nothing matches", (0, 1, 2)),
    ):
        tokens = rng.sample(range(VOCAB), 8)
        choice = [*tokens[1:4], tokens[4]]
        for place in wrong:
            choice[place] = tokens[5 + place] if place < 2 else tokens[7]
        made.append(_sure(name, tuple(tokens[:4]), CHAIN, choice, forced))
    tokens = rng.sample(range(VOCAB), 8)
    # Each of the target's tokens was drafted, one place too late.
    made.append(
        _sure(
            "matches one place further on",
            tuple(tokens[:4]),
            CHAIN,
            [tokens[2], tokens[3], tokens[4], tokens[5]],
            forced,
        )
    )
    return made


def sure_trees(seed: int) -> list[Situation]:
    """Trees on which the target is sure of one token after each node."""
    rng = random.Random(seed)  # noqa: S311  no secrets here
    made = []
    for name, path, off in (
        ("first child, then second", (1, 5), None),
        ("second sibling matches", (2,), None),
        ("third sibling matches", (3,), None),
        ("a deeper branch matches", (2, 6, 7), None),
        ("mismatch at the root", (), None),
        ("mismatch below the first child", (1,), None),
        ("matches a node of another branch", (), 4),
        ("matches a node below, but not on the path", (1,), 7),
    ):
        tokens = rng.sample(range(VOCAB), 13)
        choice = [tokens[8 + node % 5] for node in range(8)]
        node = 0
        for onward in path:
            choice[node] = tokens[onward]
            node = onward
        if off is not None:
            choice[node] = tokens[off]
        made.append(_sure(name, tuple(tokens[:8]), TREE, choice, 0))
    return made


def soft_chains() -> list[Situation]:
    """Chains of two drafted tokens on which the rules accept with different probabilities."""
    plans = (
        ("first half as likely as drafted", (0.3, 0.6), (0.6, 0.3)),
        ("second half as likely as drafted", (0.6, 0.3), (0.3, 0.6)),
        ("target and draft agree", (0.4, 0.4), (0.4, 0.4)),
        ("unlikely to the target", (0.1, 0.5), (0.5, 0.5)),
    )
    made = []
    for number, (name, target, draft) in enumerate(plans):
        tokens = (number, 5, 9)
        rows = [_row(tokens[step + 1], share, shift=2) for step, share in enumerate(target)]
        drafts = [_row(tokens[step + 1], share, shift=3) for step, share in enumerate(draft)]
        if name == "target and draft agree":
            drafts = rows
        made.append(Situation(name, tokens, CHAIN[:3], (*rows, _row(12, 0.7, shift=1)), tuple(drafts), (0.8, 0.4)))
    return made


def soft_trees() -> list[Situation]:
    """Trees whose siblings share the target's probability."""
    made = []
    for name, shares, drafts in (
        ("siblings of equal weight", (0.3, 0.3), (0.4, 0.3)),
        ("the second sibling is the likelier", (0.1, 0.6), (0.5, 0.2)),
    ):
        tokens, parents = (0, 5, 9, 3), (-1, 0, 0, 2)
        root = _pair(tokens[1:3], shares, shift=2)
        rows = (root, _row(4, 0.6, shift=1), _row(3, 0.5, shift=2), _row(11, 0.7, shift=1))
        draft = (
            _pair(tokens[1:3], drafts, shift=3),
            _row(4, 0.6, shift=1),
            _row(3, 0.25, shift=3),
            _row(11, 0.7, shift=1),
        )
        made.append(Situation(name, tokens, parents, rows, draft, (0.8, 0.4)))
    return made


def _sure(
    name: str, tokens: tuple[int, ...], parents: tuple[int, ...], choice: Sequence[int], forced: int
) -> Situation:
    target = tuple(_row(token, _SURE, shift=1) for token in choice)
    onward = [
        next((child for child, parent in enumerate(parents) if parent == node), -1) for node in range(len(tokens))
    ]
    draft = tuple(_row(tokens[child] if child >= 0 else 0, _SURE, shift=1) for child in onward)
    return Situation(name, tokens, parents, target, draft, (1.0,) * forced + (0.0,) * (3 - forced), tuple(choice))


def _row(token: int, share: float, *, shift: int) -> Row:
    """A distribution with one share given; the rest falls on all others, unevenly, so that no two rows look alike."""
    return _pair((token,), (share,), shift=shift)


def _pair(tokens: Sequence[int], shares: Sequence[float], *, shift: int) -> Row:
    weights = [0.0 if token in tokens else 1.0 + (token * shift) % 7 for token in range(VOCAB)]
    rest = (1.0 - sum(shares)) / sum(weights)
    given = dict(zip(tokens, shares, strict=True))
    return tuple(given.get(token, weights[token] * rest) for token in range(VOCAB))
