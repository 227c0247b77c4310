"""The definition of best-first expansion. Plain Python: it runs anywhere and hides nothing."""

import torch

from ..building import bits_of, rounded

NOWHERE = float("-inf")


def reference(logprob: torch.Tensor, nodes: int) -> dict[str, torch.Tensor]:
    """The prefixes with the greatest sums of log-probabilities, as a tree: each of them is a node.

    The drafter gives one distribution for each position, whatever was drafted before it. Starting from the root, the
    best prefix that is not yet a node, and whose own prefix is one, becomes the next node. Of equal sums the shorter
    prefix comes first, then the one whose last token has the lower rank, then the one with the lower parent. Sums are
    rounded to float32 at each step. When no prefix is left, the remaining nodes are padding.

    Args:
        logprob: float32 [B, L, K], at most 0. The K best tokens of each position, the best first.
        nodes: Nodes wanted, the root counted.

    Returns:
        parent: int32 [B, N]. Lower than the node; -1 for the root, which is node 0, and for padding.
        rank: int32 [B, N]. Which of the K tokens the node holds; -1 for the root and padding.
        depth: int32 [B, N]. Tokens from the root; 0 for padding.
        score: float32 [B, N]. The sum; -inf for padding.
        ancestors: int32 [B, N, ceil(N / 32)]. Bits of the node and all above it.

    Source: Ringel and Romano, DDTree: Diffusion Draft Tree, 2026 (algorithm 1).
    """
    trees = [_tree(rows, nodes) for rows in logprob.tolist()]
    kinds = {"parent": torch.int32, "rank": torch.int32, "depth": torch.int32, "score": torch.float32}
    made = {name: torch.tensor([tree[name] for tree in trees], dtype=kind) for name, kind in kinds.items()}
    bits = [bits_of(parents) for parents in made["parent"].tolist()]
    return {**made, "ancestors": torch.tensor(bits, dtype=torch.int32)}


def _tree(rows: list[list[float]], nodes: int) -> dict[str, list[int] | list[float]]:
    parent, rank, depth, score, children = [-1], [-1], [0], [0.0], [0]
    while len(parent) < nodes:
        open_ones = [
            (-rounded(score[node] + rows[depth[node]][children[node]]), depth[node] + 1, children[node], node)
            for node in range(len(parent))
            if depth[node] < len(rows) and children[node] < len(rows[0])
        ]
        if not open_ones:
            break
        worth, level, which, above = min(open_ones)
        score.append(-worth)
        for values, value in ((parent, above), (rank, which), (depth, level), (children, 0)):
            values.append(value)
        children[above] += 1
    padding = nodes - len(parent)
    return {
        "parent": parent + [-1] * padding,
        "rank": rank + [-1] * padding,
        "depth": depth + [0] * padding,
        "score": score + [NOWHERE] * padding,
    }
