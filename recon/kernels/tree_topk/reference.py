"""The definition of top-k expansion and the choice among all. Plain Python: it runs anywhere and hides nothing."""

import torch

from ..building import bits_of, rounded


def reference(logprob: torch.Tensor, nodes: int) -> dict[str, torch.Tensor]:
    """Grow a tree step by step from its best prefixes, then keep the best of all that were looked at.

    The first step looks at k tokens. Each later one looks at k tokens after each of the k best prefixes of the step
    before, in their order, and numbers these candidates on. Of all candidates the best become nodes, in the order of
    their numbers, so that parents precede children; a prefix is never worse than what it begins, so parents are kept.
    Of equal sums the lower number is the better. Sums are rounded to float32 at each step.

    Args:
        logprob: float32 [B, S, k, k], at most 0. For each step and prefix the k best tokens, the best first; of the
            first step the first row alone counts.
        nodes: Nodes wanted, the root counted.

    Returns:
        candidate: int32 [B, N]. Number of the candidate that a node is; -1 for the root, which is node 0, and for
            padding.
        parent: int32 [B, N]. Lower than the node; -1 for the root and padding.
        depth: int32 [B, N]. Tokens from the root; 0 for padding.
        ancestors: int32 [B, N, ceil(N / 32)]. Bits of the node and all above it.

    Source: Li et al., EAGLE-2: Faster Inference of Language Models with Dynamic Draft Trees, 2024.
    """
    trees = [_tree(steps, nodes) for steps in logprob.tolist()]
    made = {name: torch.tensor([tree[name] for tree in trees], dtype=torch.int32) for name in trees[0]}
    return {**made, "ancestors": torch.tensor([bits_of(tree["parent"]) for tree in trees], dtype=torch.int32)}


def _tree(steps: list[list[list[float]]], nodes: int) -> dict[str, list[int]]:
    topk = len(steps[0])
    score, above, depth = list(steps[0][0]), [-1] * topk, [1] * topk
    kept = _best(score, range(topk), topk)
    for number, rows in enumerate(steps[1:], start=2):
        begin = len(score)
        for prefix, row in zip(kept, rows, strict=True):
            for value in row:
                score.append(rounded(score[prefix] + value))
                above.append(prefix)
                depth.append(number)
        kept = _best(score, range(begin, len(score)), topk)
    chosen = sorted(_best(score, range(len(score)), nodes - 1))
    node_of = {-1: 0} | {candidate: node for node, candidate in enumerate(chosen, start=1)}
    padding = nodes - 1 - len(chosen)
    return {
        "candidate": [-1, *chosen] + [-1] * padding,
        "parent": [-1] + [node_of[above[each]] for each in chosen] + [-1] * padding,
        "depth": [0] + [depth[each] for each in chosen] + [0] * padding,
    }


def _best(score: list[float], among: range, many: int) -> list[int]:
    """The best of some, the best first."""
    return sorted(among, key=lambda each: (-score[each], each))[:many]
