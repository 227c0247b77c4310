"""An empty Triton kernel."""

import torch
import triton

from ..op import Build, Op, Variant, Work
from ..wire import Axes
from . import spec


@triton.jit
def nop(anything_ptr):
    """Do nothing; grid (1,)."""


def launch(work: Work, _config: Axes) -> None:
    """Queue the empty launch."""
    nop[(1,)](work.inputs["anything"], num_warps=1)


def work_of(_axes: Axes, _seed: int, device: torch.device) -> Work:
    """A pointer to pass along."""
    return Work({"anything": torch.zeros(1, dtype=torch.int32, device=device)}, {})


def builds() -> tuple[Build, ...]:
    """The one build."""
    return (Build("triton", nop, {"anything_ptr": "*i32"}, {}, frozenset(), 1),)


OP = Op(work=work_of, compare=None, variants={"triton": Variant(launch)}, bytes_of=spec.bytes_of, builds=builds)
