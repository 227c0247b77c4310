"""Tokens, weights of experts, and the pairs of both, sorted by expert."""

import torch

from ..op import Work
from ..wire import Axes
from . import spec


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Standard normal operands; the routing follows from the case alone.

    Returns:
        inputs: x [R, K] and weight [E, N, K] of bf16, or fp32 where the axis `dtype` says so; row int32 [P], offset
            int32 [E + 1] and, for loops of the host, the same on the CPU as host_offset.
        outputs: y [P, N] of that type.
    """
    generator = torch.Generator(device).manual_seed(seed)
    dtype = torch.float32 if axes.get("dtype") == "fp32" else torch.bfloat16
    experts, n, k = int(axes["experts"]), int(axes["n"]), int(axes["k"])
    pairs = sorted((expert, token) for token, chosen in enumerate(spec.routing_of(axes)) for expert in chosen)
    counts = [0] * (experts + 1)
    for expert, _ in pairs:
        counts[expert + 1] += 1
    offset = torch.tensor(counts, dtype=torch.int32).cumsum(0).int()
    rows = [token for _, token in pairs] if axes["part"] == "up" else list(range(len(pairs)))

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator, dtype=dtype, device=device)

    inputs = {
        "x": normal(spec.rows_of(axes), k),
        "weight": normal(experts, n, k),
        "row": torch.tensor(rows, dtype=torch.int32, device=device),
        "offset": offset.to(device),
        "host_offset": offset,
    }
    return Work(inputs, {"y": torch.empty((len(pairs), n), dtype=dtype, device=device)}, axes=axes)
