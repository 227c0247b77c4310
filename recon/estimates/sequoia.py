"""Sequoia's dynamic programme: the static tree that is best for acceptance rates that depend on the rank alone.

Source: Chen et al., Sequoia, arXiv 2402.12374, section 3.1 and the authors' `tree_search.py`.
"""

from collections.abc import Callable, Iterator, Sequence

from recon.errors import Usage
from recon.estimates.trees import Static

MOST = 512
"""Nodes: time grows with their square, about a second for 128 nodes 16 deep and 16 wide."""
NONE = float("-inf")


class Sequoia:
    """Best trees of every size up to one, within a depth and a number of children."""

    def __init__(self, rates: Sequence[float], most: int, *, deepest: int, widest: int) -> None:
        """Fill the programme's table: worth of the best tree, by depth, nodes and children of its root.

        Args:
            rates: Probability that the child of each rank is the one accepted, given that its parent was.
            most: Drafts in the largest tree, the root not counted.
            deepest: Most drafts on one path.
            widest: Most children of a node; no more than there are rates are used.

        Raises:
            Usage: A rate is no probability, or there is nothing to build of.
        """
        if not rates or not all(0 <= rate <= 1 for rate in rates) or sum(rates) > 1 + 1e-6:
            raise Usage("Acceptance rates by rank are probabilities that sum up to at most 1")
        if not 0 < most <= MOST or deepest < 1 or widest < 1:
            raise Usage(f"A tree has from 1 to {MOST} nodes, and at least one level and one child")
        self.most, self.deepest = most, deepest
        self._rates = tuple(rates[:widest])
        self._worth = self._table()

    def tau(self, nodes: int, depth: int = 0) -> float:
        """Tokens per pass of the best tree of so many drafts; NONE where depth and width do not admit so many."""
        return max(row[nodes + 1] for row in self._worth[depth or self.deepest])

    def tree(self, nodes: int, depth: int = 0) -> Static:
        """The best tree of so many drafts within a depth.

        Raises:
            Usage: The depth and the width do not admit so many.
        """
        level = depth or self.deepest
        if not 0 < nodes <= self.most or self.tau(nodes, level) == NONE:
            raise Usage(f"No tree of {nodes} nodes is {level} deep and {len(self._rates)} wide")
        paths = sorted(self._paths(nodes + 1, level, ()), key=lambda path: (len(path), path))
        return Static(f"sequoia({nodes})", tuple(paths))

    def best(self, draft: float, verify: Callable[[int], float]) -> tuple[int, int]:
        """Drafts and depth of the tree with the most tokens in a unit of time.

        Args:
            draft: Time of one level of drafting.
            verify: Time of a pass over a tree of so many drafts, in the same unit.
        """
        sizes = [
            (self.tau(nodes, depth) / (depth * draft + verify(nodes)), -nodes, -depth)
            for depth in range(1, self.deepest + 1)
            for nodes in range(1, self.most + 1)
        ]
        _, nodes, depth = max(sizes)
        return -nodes, -depth

    def _table(self) -> list[list[list[float]]]:
        """[depth][children of the root][nodes, the root counted]: accepted nodes on average, the root counted."""
        leaf = [NONE, 1.0] + [NONE] * (self.most)
        table = [[leaf]]
        for _ in range(self.deepest):
            below = [max(worths) for worths in zip(*table[-1], strict=True)]
            rows = [leaf]
            for rate in self._rates:
                rows.append(self._with_child(rows[-1], [rate * worth for worth in below]))
            table.append(rows)
        return table

    def _with_child(self, without: list[float], child: list[float]) -> list[float]:
        """Worth by nodes when one more child, of any size, hangs below the root."""
        return [
            max((without[nodes - size] + child[size] for size in range(1, nodes)), default=NONE)
            for nodes in range(self.most + 2)
        ]

    def _paths(self, nodes: int, depth: int, above: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Take the programme's choices again, from the last child of the root to the first."""
        rows = self._worth[depth]
        children = max(range(len(rows)), key=lambda count: rows[count][nodes])
        for rank in range(children - 1, -1, -1):
            size = self._size(depth, rank, nodes)
            yield (*above, rank)
            yield from self._paths(size, depth - 1, (*above, rank))
            nodes -= size

    def _size(self, depth: int, rank: int, nodes: int) -> int:
        """Of the child of a rank, when the root has no later ones."""
        without = self._worth[depth][rank]
        below = [max(worths) for worths in zip(*self._worth[depth - 1], strict=True)]
        return max(range(1, nodes), key=lambda size: without[nodes - size] + self._rates[rank] * below[size])
