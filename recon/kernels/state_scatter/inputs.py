"""Tensors for a case of the copy."""

import torch

from ..ancestry import ancestry
from ..op import Work
from ..trees import DTYPES
from ..wire import Axes


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Random states of all nodes, and room for one."""
    batch, nodes = int(axes["batch"]), int(axes["nodes"])
    shape = tuple(int(axes[f"linear_{name}"]) for name in ("value_heads", "key_dim", "value_dim"))
    generator = torch.Generator(device).manual_seed(seed)
    dtype = DTYPES[str(axes["state"])]
    states = torch.randn((batch, nodes, *shape), generator=generator, dtype=dtype, device=device)
    trees = ancestry(axes, seed, device)
    inputs = {"states": states, "path": trees["path"], "steps": trees["steps"]}
    return Work(inputs, {"after": torch.empty((batch, *shape), dtype=dtype, device=device)}, axes=axes)
