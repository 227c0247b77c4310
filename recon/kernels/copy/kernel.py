"""A Triton copy, and torch's way to copy without a memcpy node in the graph."""

import torch
import triton
import triton.language as tl

from ..card import Card
from ..op import Build, Op, Variant, Work, compare_exactly
from ..wire import Axes
from . import spec


@triton.jit
def copy(x_ptr, y_ptr, size, BLOCK: tl.constexpr):
    """Copy a block of int32; one program per block."""
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < size
    tl.store(y_ptr + index, tl.load(x_ptr + index, mask=inside, other=0), mask=inside)


def launch(work: Work, config: Axes) -> None:
    """Queue the launch."""
    x, block = work.inputs["x"], int(config["block"])
    copy[(-(-len(x) // block),)](x, work.outputs["y"], len(x), BLOCK=block, num_warps=int(config["warps"]))


def launch_torch(work: Work, _config: Axes) -> None:
    """Queue an addition of zero: one kernel of torch's that reads and writes as much."""
    torch.add(work.inputs["x"], 0, out=work.outputs["y"])


CONFIGS: tuple[Axes, ...] = tuple(
    {"block": block, "warps": warps} for block, warps in ((2048, 8), (4096, 8), (1024, 4), (1024, 8))
)


def configs(_axes: Axes, _card: Card) -> tuple[Axes, ...]:
    """Sixteen to sixty-four bytes for each lane."""
    return CONFIGS


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Random int32 values and as much room."""
    generator = torch.Generator(device).manual_seed(seed)
    size = int(axes["bytes"]) // 4
    x = torch.randint(-(1 << 31), 1 << 31, (size,), generator=generator, dtype=torch.int32, device=device)
    return Work({"x": x}, {"y": torch.empty_like(x)})


def compare(work: Work) -> str:
    """The very same values."""
    return compare_exactly(work.outputs, {"y": work.inputs["x"]})


def builds() -> tuple[Build, ...]:
    """One build for each configuration."""
    types = {"x_ptr": "*i32", "y_ptr": "*i32", "size": "i32"}
    return tuple(
        Build("triton", copy, types, {"BLOCK": int(config["block"])}, frozenset(("size",)), int(config["warps"]))
        for config in CONFIGS
    )


OP = Op(
    work=work_of,
    compare=compare,
    variants={"triton": Variant(launch, configs), "torch_add": Variant(launch_torch)},
    bytes_of=spec.bytes_of,
    builds=builds,
)
