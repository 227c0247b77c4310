"""The definition of greedy tree acceptance. Pure torch and plain loops: it runs anywhere and hides nothing."""

import torch

from ..choice import choose


def reference(logits: torch.Tensor, token: torch.Tensor, parent: torch.Tensor) -> dict[str, torch.Tensor]:
    """Walk each draft tree from the root, along the tokens that the target chooses.

    At each node the target chooses a token (`choice.choose`). If a child holds it, the child is accepted and the walk
    goes on there; among children with equal tokens the lowest node is meant. Otherwise the walk ends, and the token
    chosen is the bonus.

    Args:
        logits: float [B, N, V]. The target's logits at each node; node 0 is the last token accepted before.
        token: int64 [B, N]. Draft token at each node.
        parent: int32 [B, N]. Parent of each node, lower than the node; -1 for the root and for nodes that are padding.

    Returns:
        path: int32 [B, N]. Nodes visited, the root first, then -1.
        emitted: int64 [B, N]. Token chosen at each node visited, the bonus last, then -1.
        accepted: int32 [B]. Draft tokens accepted; neither root nor bonus is counted.

    Source: Miao et al., SpecInfer, 2023.
    """
    batch, nodes = token.shape
    path = torch.full((batch, nodes), -1, dtype=torch.int32)
    emitted = torch.full((batch, nodes), -1, dtype=torch.int64)
    accepted = torch.zeros(batch, dtype=torch.int32)
    target = choose(logits).tolist()
    tokens, parents = token.tolist(), parent.tolist()
    for request in range(batch):
        visited = walk(target[request], tokens[request], parents[request])
        path[request, : len(visited)] = torch.tensor(visited, dtype=torch.int32)
        emitted[request, : len(visited)] = torch.tensor([target[request][node] for node in visited])
        accepted[request] = len(visited) - 1
    return {"path": path, "emitted": emitted, "accepted": accepted}


def walk(target: list[int], token: list[int], parent: list[int]) -> list[int]:
    """Nodes visited in one tree, the root first."""
    visited = [0]
    while True:
        here = visited[-1]
        for node in range(1, len(token)):
            if parent[node] == here and token[node] == target[here]:
                visited.append(node)
                break
        else:
            return visited
