"""How a draft tree is built from what a drafter thinks of each position: the builders, all in one form.

A drafter that fills a block at once gives one list of log-probabilities for each position, whatever was drafted before
it. A builder turns these rows into an order of nodes. The tree under a budget of N nodes is the first N of them, so a
tree is known at every budget once its order is.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush, heapreplace
from typing import Protocol

from recon.errors import Usage

Rows = Sequence[Sequence[float]]
"""Log-probabilities [L][K] of the K best tokens of each drafted position, the best first."""
LARGEST = 4096
"""Nodes of a static tree, and characters of its text for each of them."""


class Builder(Protocol):
    """Turns the rows of one round into an order of nodes."""

    @property
    def name(self) -> str:
        """What the builder is called, with its settings."""

    @property
    def width(self) -> int:
        """Most tokens of a position that it ever asks for; 0 for as many as the budget makes worth it."""

    @property
    def depth(self) -> int:
        """Most drafts on one path; 0 for as many as there are rows."""

    def order(self, rows: Rows) -> Iterator[tuple[int, int]]:
        """Parent and rank of each node, in the order in which nodes join; the first to join is node 1, the root 0.

        A parent always joins before its children, and of siblings the lower rank before the higher unless the tree is
        static.
        """


@dataclass(frozen=True, slots=True)
class Heap:
    """Best first: the likeliest prefix that is not yet a node, and whose own prefix is one, joins next.

    Of equal sums the shorter prefix comes first, then the lower rank, then the lower parent.

    Source: Ringel and Romano, DDTree, arXiv 2604.12989, algorithm 1.
    """

    name: str = field(default="heap", init=False)
    width: int = field(default=0, init=False)
    depth: int = field(default=0, init=False)

    def order(self, rows: Rows) -> Iterator[tuple[int, int]]:
        """As the protocol says."""
        return _best_first(rows, [(-rows[0][0], 1, 0, 0)], [0.0])


@dataclass(frozen=True, slots=True)
class Spine:
    """The whole chain of best tokens first, then whatever is likeliest beside and below it.

    At budgets up to the length of the chain it is that chain. It never cuts the chain's unlikely end, which is what
    sets it apart from best first at small budgets.
    """

    name: str = field(default="spine+siblings", init=False)
    width: int = field(default=0, init=False)
    depth: int = field(default=0, init=False)

    def order(self, rows: Rows) -> Iterator[tuple[int, int]]:
        """As the protocol says."""
        scores = [0.0]
        open_ones: list[tuple[float, int, int, int]] = []
        for depth, row in enumerate(rows, 1):
            if len(row) > 1:
                heappush(open_ones, (-(scores[-1] + row[1]), depth, 1, depth - 1))
            scores.append(scores[-1] + row[0])
            yield depth - 1, 0
        yield from _best_first(rows, open_ones, scores)


def _best_first(
    rows: Rows, open_ones: list[tuple[float, int, int, int]], scores: list[float]
) -> Iterator[tuple[int, int]]:
    """Go on from the nodes whose sums are `scores`: of the open ones (minus sum, depth, rank, parent) the best."""
    deepest = len(rows)
    while open_ones:
        worth, depth, rank, parent = open_ones[0]
        row, node = rows[depth - 1], len(scores)
        scores.append(-worth)
        if rank + 1 < len(row):
            heapreplace(open_ones, (-(scores[parent] + row[rank + 1]), depth, rank + 1, parent))
        else:
            heappop(open_ones)
        if depth < deepest:
            heappush(open_ones, (worth - rows[depth][0], depth + 1, 0, node))
        yield parent, rank


@dataclass(frozen=True, slots=True)
class Eagle:
    """Level by level the children of the best nodes of the level before; in the end the best of all that were seen.

    For a drafter whose rows depend on the path, rows of positions are an approximation of what it would have said.

    Source: Li et al., EAGLE-2, arXiv 2406.16858, sections 4.1 and 4.2.
    """

    steps: int
    """Levels that are expanded: the depth of the tree."""
    topk: int
    """Nodes of a level that are expanded, and children that each of them gets."""

    @property
    def name(self) -> str:
        """With its settings."""
        return f"eagle(steps={self.steps}, topk={self.topk})"

    @property
    def width(self) -> int:
        """Children of a node."""
        return self.topk

    @property
    def depth(self) -> int:
        """Levels."""
        return self.steps

    def order(self, rows: Rows) -> Iterator[tuple[int, int]]:
        """As the protocol says."""
        seen: list[tuple[float, int, int, int]] = []  # minus sum, depth, place among those seen, rank
        parents: list[int] = []  # places, by place
        frontier = [(0.0, -1)]
        for depth, row in enumerate(rows[: self.steps], 1):
            level = []
            for worth, place in frontier:
                for rank, logprob in enumerate(row[: self.topk]):
                    level.append((worth - logprob, len(parents)))
                    seen.append((worth - logprob, depth, len(parents), rank))
                    parents.append(place)
            frontier = sorted(level)[: self.topk]
        numbers = {-1: 0}
        for node, (_, _, place, rank) in enumerate(sorted(seen), 1):
            numbers[place] = node
            yield numbers[parents[place]], rank


@dataclass(frozen=True, slots=True)
class Static:
    """One tree for all rounds, as paths of ranks: `(0, 0, 2)` is the third-best token after two best ones."""

    name: str
    paths: tuple[tuple[int, ...], ...]
    """Each after the path that it prolongs."""

    @property
    def width(self) -> int:
        """The highest rank, counted from 1."""
        return 1 + max(max(path) for path in self.paths)

    @property
    def depth(self) -> int:
        """The longest path."""
        return max(map(len, self.paths))

    def order(self, rows: Rows) -> Iterator[tuple[int, int]]:  # noqa: ARG002 - other builders look at them
        """The same for all rows."""
        numbers: dict[tuple[int, ...], int] = {(): 0}
        for node, path in enumerate(self.paths, 1):
            numbers[path] = node
            yield numbers[path[:-1]], path[-1]


def most_of(builder: Builder) -> int:
    """Nodes beyond which its trees do not grow, whatever the budget; 0 where rows alone bound them.

    >>> most_of(Eagle(2, 10))
    110
    """
    match builder:
        case Static():
            return len(builder.paths)
        case Eagle():
            return builder.topk + (builder.steps - 1) * builder.topk**2
    return 0


def too_small(builder: Builder, nodes: int) -> str:
    """Why there is no tree of so many nodes; empty where there is: a round of more would be timed than is verified."""
    most = most_of(builder)
    if not 0 < most < nodes:
        return ""
    return f"{builder.name} makes trees of up to {most} draft{'s' * (most > 1)}, not of {nodes}."


def called(builder: Builder) -> str:
    """Its name; a static tree without two nodes side by side is a chain, whatever it is called."""
    return "chain" if isinstance(builder, Static) and builder.depth == len(builder.paths) else builder.name


def static(text: str, name: str = "static") -> Static:
    """A static tree from text: a list of paths of ranks, `[[0], [0, 0], [1]]` or `[(0,), (0, 0), (1,)]`.

    This is how Medusa's choices and vLLM's speculative token tree are written. Nodes are put in order of depth.

    Raises:
        Usage: It is not such a list, is larger than any tree, or a path prolongs one that is not there.
    """
    hint = "A static tree is a list of paths of ranks, e.g. [[0], [0, 0], [1]]."
    if len(text) > LARGEST * 32:
        raise Usage(f"{name} is too long for a tree", hint)
    try:
        listed = json.loads(re.sub(r",\s*\]", "]", text.replace("(", "[").replace(")", "]")))
    except (ValueError, RecursionError):
        raise Usage(f"{name} is no list of paths", hint) from None
    if not isinstance(listed, list) or not listed or not all(_is_path(path) for path in listed):
        raise Usage(f"{name} is no list of paths", hint)
    paths = sorted((tuple(path) for path in listed), key=lambda path: (len(path), path))
    there = {(), *paths}
    if len(there) != len(paths) + 1 or len(paths) > LARGEST:
        raise Usage(f"{name} has a path twice, or more than {LARGEST} paths", hint)
    lone = next((path for path in paths if path[:-1] not in there), None)
    if lone is not None:
        raise Usage(f"{name} has the path {list(lone)} without {list(lone[:-1])}", hint)
    return Static(name, tuple(paths))


def _is_path(value: object) -> bool:
    return (
        isinstance(value, list)
        and 0 < len(value) <= 64
        and all(type(rank) is int and 0 <= rank < LARGEST for rank in value)
    )
