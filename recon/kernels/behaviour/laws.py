"""The rules of acceptance, as the law of their answers: each outcome with its probability, worked out on paper.

An outcome is the accepted path, as nodes from the root on, and the token that follows it. Everything here is plain
arithmetic on small lists, so that it can be checked by hand and owes nothing to any kernel.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Row = tuple[float, ...]
Path = tuple[int, ...]
Outcome = tuple[Path, int | None]
"""Token None: the rule does not say which token follows."""
Law = dict[Outcome, float]


@dataclass(frozen=True)
class Situation:
    """One request: a tree of drafted tokens (a chain is a tree), and what target and draft think of them."""

    name: str
    tokens: tuple[int, ...]
    """By node; node 0 is the root, a token that stands already."""
    parents: tuple[int, ...]
    """By node, -1 for the root; parents stand before their children, siblings in the order in which they are tried."""
    target: tuple[Row, ...]
    """The target's distribution after each node."""
    draft: tuple[Row, ...] = ()
    """The draft's distribution after each node that has children."""
    rates: Row = ()
    """Forced rates of acceptance, by depth."""
    chosen: tuple[int, ...] = field(default=())
    """The target's token after each node where it is given as a token; else the best of its distribution."""

    @property
    def choice(self) -> tuple[int, ...]:
        """The target's token after each node."""
        return self.chosen or tuple(row.index(max(row)) for row in self.target)

    def children(self, node: int) -> tuple[int, ...]:
        """Nodes below a node, in the order in which they are tried."""
        return tuple(child for child, parent in enumerate(self.parents) if parent == node)

    @property
    def is_chain(self) -> bool:
        """Whether each node has one child at most."""
        return all(parent == node - 1 for node, parent in enumerate(self.parents))


def greedy(situation: Situation) -> Law:
    """Go to the child that is the target's choice, as long as there is one."""
    path, node, choice = [0], 0, situation.choice
    while True:
        onward = [child for child in situation.children(node) if situation.tokens[child] == choice[node]]
        if not onward:
            return {(tuple(path), choice[node]): 1.0}
        node = onward[0]
        path.append(node)


def with_draft(situation: Situation) -> Law:
    """Accept with min(1, p/q), else draw from max(p - q, 0); siblings in turn, each drawn without those before it."""
    law: Law = {}

    def walk(path: Path, chance: float) -> None:
        node = path[-1]
        p, q = list(situation.target[node]), list(situation.draft[node]) if situation.children(node) else []
        for child in situation.children(node):
            token = situation.tokens[child]
            taken = min(1.0, p[token] / q[token]) if q[token] > 0 else 0.0
            walk((*path, child), chance * taken)
            chance *= 1.0 - taken
            p = _normal([max(a - b, 0.0) for a, b in zip(p, q, strict=True)])
            q[token] = 0.0
            q = _normal(q)
        _end(law, path, p, chance)

    walk((0,), 1.0)
    return law


def without_draft(situation: Situation) -> Law:
    """Accept a drafted token with the target's own probability of it; what is left of the target is drawn from."""
    law: Law = {}

    def walk(path: Path, chance: float) -> None:
        rest = list(situation.target[path[-1]])
        for child in situation.children(path[-1]):
            token = situation.tokens[child]
            walk((*path, child), chance * rest[token])
            rest[token] = 0.0
        _end(law, path, _normal(rest), chance * sum(rest))

    walk((0,), 1.0)
    return law


def block(situation: Situation) -> Law:
    """Block verification of a chain: the longest prefix that passes the joint test (arXiv 2403.10444)."""
    steps = len(situation.tokens) - 1
    prefix = [1.0]
    for step in range(1, steps + 1):
        token = situation.tokens[step]
        p, q = situation.target[step - 1][token], situation.draft[step - 1][token]
        prefix.append(min(1.0, prefix[-1] * p / q) if q > 0 else 0.0)
    law: Law = {}
    refused = 1.0
    for step in range(steps, -1, -1):
        row = situation.target[step]
        if step < steps:
            row = tuple(max(prefix[step] * a - b, 0.0) for a, b in zip(row, situation.draft[step], strict=True))
        passed = 1.0
        if step == steps:
            passed = prefix[step]
        elif step > 0:
            mass = sum(row)
            passed = mass / (mass + 1.0 - prefix[step]) if mass + 1.0 - prefix[step] > 0 else 1.0
        _end(law, tuple(range(step + 1)), _normal(list(row)), refused * passed)
        refused *= 1.0 - passed
    return law


def forced(situation: Situation) -> Law:
    """Accept with a given rate at each depth, whatever the tokens are."""
    law: Law = {}
    chance = 1.0
    steps = len(situation.tokens) - 1
    for step in range(steps):
        law[tuple(range(step + 1)), None] = chance * (1.0 - situation.rates[step])
        chance *= situation.rates[step]
    law[tuple(range(steps + 1)), None] = chance
    return {outcome: p for outcome, p in law.items() if p > 0.0}


def _normal(row: list[float]) -> list[float]:
    total = sum(row)
    return [each / total for each in row] if total > 0 else row


def _end(law: Law, path: Path, row: list[float] | Row, chance: float) -> None:
    for token, share in enumerate(row):
        if chance * share > 0.0:
            law[path, token] = law.get((path, token), 0.0) + chance * share


LAWS: Mapping[str, Callable[[Situation], Law]] = {
    "greedy": greedy,
    "with draft probabilities": with_draft,
    "without draft probabilities": without_draft,
    "block": block,
    "forced": forced,
}
"""By the word that a result says."""
