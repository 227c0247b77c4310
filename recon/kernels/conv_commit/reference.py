"""The definition of the commit."""

import torch

from ..op import Tensors


def reference(inputs: Tensors) -> torch.Tensor:
    """The last inputs behind each accepted path, as many as a window holds, the newest last: bf16 [B, W - 1, C]."""
    windows = []
    for request, steps in enumerate(inputs["steps"].tolist()):
        path = inputs["path"][request, :steps].long()
        seen = torch.cat([inputs["window"][request], inputs["x"][request][path]])
        windows.append(seen[-inputs["window"].shape[1] :])
    return torch.stack(windows)
