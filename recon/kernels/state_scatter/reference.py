"""The definition of the copy."""

import torch


def reference(states: torch.Tensor, path: torch.Tensor, steps: torch.Tensor) -> torch.Tensor:
    """State of the last node of each accepted path.

    Args:
        states: float [B, T, ...]. State behind each node.
        path: int32 [B, T]. Nodes of the accepted path, the root first.
        steps: int32 [B]. How many they are, at least one.
    """
    last = path.gather(1, steps[:, None].long() - 1)[:, 0].long()
    return torch.stack([row[node] for row, node in zip(states, last.tolist(), strict=True)])
