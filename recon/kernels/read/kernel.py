"""A Triton kernel that reads once and keeps partial sums, so that nothing can be left out."""

import torch
import triton
import triton.language as tl

from ..card import Card
from ..op import Build, Op, Variant, Work, compare_exactly
from ..wire import Axes
from . import spec


@triton.jit
def read(x_ptr, sums_ptr, size, chunk, BLOCK: tl.constexpr):
    """Sum a chunk of int32, wrapping; one program per chunk."""
    program = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    begin = program.to(tl.int64) * chunk
    end = tl.minimum(begin + chunk, size)
    total = tl.zeros([BLOCK], tl.int32)
    for start in range(begin, end, BLOCK):
        index = start + lane
        total += tl.load(x_ptr + index, mask=index < end, other=0)
    # Summed in 64 bits and cut: the interpreter of older versions refuses a sum that wraps.
    tl.store(sums_ptr + program, tl.sum(total.to(tl.int64), axis=0).to(tl.int32))


def launch(work: Work, config: Axes) -> None:
    """Queue the launch."""
    x, sums = work.inputs["x"], work.outputs["sums"]
    read[(len(sums),)](
        x, sums, len(x), _chunk(len(x), len(sums)), BLOCK=int(config["block"]), num_warps=int(config["warps"])
    )


def _chunk(size: int, programs: int) -> int:
    return -(-size // programs // 16) * 16


CONFIGS: tuple[Axes, ...] = tuple(
    {"block": block, "warps": warps} for block, warps in ((2048, 8), (4096, 8), (1024, 4), (2048, 4))
)


def configs(_axes: Axes, _card: Card) -> tuple[Axes, ...]:
    """Sixteen to sixty-four bytes in flight for each lane."""
    return CONFIGS


def work_of(axes: Axes, seed: int, device: torch.device) -> Work:
    """Random int32 values and room for partial sums."""
    generator = torch.Generator(device).manual_seed(seed)
    size = int(axes["bytes"]) // 4
    x = torch.randint(-(1 << 31), 1 << 31, (size,), generator=generator, dtype=torch.int32, device=device)
    return Work({"x": x}, {"sums": torch.empty(min(spec.SUMS, -(-size // 16)), dtype=torch.int32, device=device)})


def compare(work: Work) -> str:
    """Each chunk's sum modulo 2**32."""
    x, sums = work.inputs["x"], work.outputs["sums"]
    chunk = _chunk(len(x), len(sums))
    whole = x if len(x) == chunk * len(sums) else torch.zeros(chunk * len(sums), dtype=torch.int32, device=x.device)
    whole[: len(x)] = x
    wrapped = whole.view(len(sums), chunk).sum(1, dtype=torch.int64) & 0xFFFFFFFF
    return compare_exactly(work.outputs, {"sums": torch.where(wrapped >> 31 == 1, wrapped - (1 << 32), wrapped).int()})


def builds() -> tuple[Build, ...]:
    """One build for each configuration."""
    types = {"x_ptr": "*i32", "sums_ptr": "*i32", "size": "i32", "chunk": "i32"}
    return tuple(
        Build(
            "triton", read, types, {"BLOCK": int(config["block"])}, frozenset(("size", "chunk")), int(config["warps"])
        )
        for config in CONFIGS
    )


OP = Op(
    work=work_of,
    compare=compare,
    variants={"triton": Variant(launch, configs)},
    bytes_of=spec.bytes_of,
    builds=builds,
)
