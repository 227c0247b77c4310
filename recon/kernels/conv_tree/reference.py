"""The definition of the convolution along a tree, in float64 and plain loops."""

import torch

from ..op import Tensors


def reference(inputs: Tensors) -> torch.Tensor:
    """Each node's window, oldest first, weighed and put through silu.

    Args:
        inputs: As `conv_inputs` makes them.

    Returns:
        float64 [B, T, C].
    """
    weight = inputs["weight"].double()  # [C, W]
    outs = []
    for tree, window, x in zip(inputs["parent"].tolist(), inputs["window"].double(), inputs["x"].double(), strict=True):
        for node in range(len(tree)):
            way = [node]
            while tree[way[-1]] >= 0:
                way.append(tree[way[-1]])
            seen = torch.cat([window, x[way[::-1]]])[-weight.shape[1] :]  # [W, C]
            outs.append(torch.nn.functional.silu((seen.mT * weight).sum(1)))
    return torch.stack(outs).view(inputs["x"].shape)
