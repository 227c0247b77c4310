"""The Triton claim about the reference: one launch for all experts, which finds its expert by the offsets."""

import torch
import triton
import triton.language as tl

from ..card import Card
from ..op import Build, Op, Variant, Work
from ..wire import Axes
from . import spec
from .baselines import grouped, loop
from .inputs import work_of
from .reference import reference

TOLERANCE = 1e-2  # bf16 operands and output: 1e-3 to 1e-2 in norm
AGREED = f"each of 64 rows within {TOLERANCE:.0e} of products in float64, in norm"


@triton.jit(do_not_specialize=["experts"])
def grouped_gemm_tile(
    x_ptr,
    weight_ptr,
    row_ptr,
    offset_ptr,
    y_ptr,
    experts,
    n,
    k,
    EXPERTS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    """One tile of the products of one expert; grid (tiles of n, most tiles of pairs)."""
    tile = tl.program_id(1)
    lane = tl.arange(0, EXPERTS)
    begin = tl.load(offset_ptr + lane, mask=lane < experts, other=0)
    end = tl.load(offset_ptr + lane + 1, mask=lane < experts, other=0)
    tiles = (end - begin + BLOCK_M - 1) // BLOCK_M
    after = tl.cumsum(tiles, axis=0)
    expert = tl.sum((after <= tile).to(tl.int32))  # the first whose tiles reach so far
    if expert < experts:
        mine = lane == expert
        first = tl.sum(tl.where(mine, begin + (tile - (after - tiles)) * BLOCK_M, 0))
        last = tl.sum(tl.where(mine, end, 0))
        pair = first + tl.arange(0, BLOCK_M)
        row = tl.load(row_ptr + pair, mask=pair < last, other=0).to(tl.int64)
        column = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
        inner = tl.arange(0, BLOCK_K)
        left = x_ptr + row[:, None] * k + inner[None, :]
        weights = weight_ptr + expert.to(tl.int64) * n * k
        right = weights + column[None, :].to(tl.int64) * k + inner[:, None]
        total = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
        for step in range(0, k, BLOCK_K):
            deep = step + inner < k
            a = tl.load(left + step, mask=(pair < last)[:, None] & deep[None, :], other=0.0)
            b = tl.load(right + step, mask=(column < n)[None, :] & deep[:, None], other=0.0)
            total = tl.dot(a, b, total)
        place = y_ptr + pair[:, None].to(tl.int64) * n + column[None, :]
        tl.store(place, total.to(y_ptr.dtype.element_ty), mask=(pair < last)[:, None] & (column < n)[None, :])


def tiles(work: Work, config: Axes) -> None:
    """Queue the launch; each expert that is asked adds at most one tile that is not full."""
    x, weight, y = work.inputs["x"], work.inputs["weight"], work.outputs["y"]
    experts, n, k = weight.shape
    rows = int(config["rows"])
    most = triton.cdiv(len(y), rows) + min(len(y), experts)
    grouped_gemm_tile[(triton.cdiv(n, int(config["columns"])), most)](
        x,
        weight,
        work.inputs["row"],
        work.inputs["offset"],
        y,
        experts,
        n,
        k,
        EXPERTS=triton.next_power_of_2(experts),
        BLOCK_M=rows,
        BLOCK_N=int(config["columns"]),
        BLOCK_K=int(config["inner"]),
        num_warps=int(config["warps"]),
    )


SHAPES = ((16, 64, 128, 4), (16, 32, 256, 4), (32, 128, 64, 4), (64, 128, 64, 4), (128, 128, 64, 8))
"""Rows, columns and inner length of a tile, with its warps."""


def configs(axes: Axes, _card: Card) -> tuple[Axes, ...]:
    """Tiles of few rows where experts get few, of many where they get many."""
    each = spec.pairs_of(axes) / max(1, spec.distinct_of(axes))
    return tuple(
        {"rows": rows, "columns": columns, "inner": inner, "warps": warps}
        for rows, columns, inner, warps in SHAPES
        if rows == SHAPES[0][0] or rows <= 4 * each
    )


def compare(work: Work) -> str:
    """Relative error in norm of 64 rows spread over the pairs, and whether all were written."""
    got = work.outputs["y"]
    some = torch.linspace(0, len(got) - 1, 64, device=got.device).long()
    operands = {name: work.inputs[name] for name in ("x", "weight", "row", "offset")}
    want = reference(**operands, some=some)
    errors = (got[some].double() - want).norm(dim=1) / want.norm(dim=1)
    written = not got.isnan().any().item()
    worst = errors.max().item()
    return "" if written and worst < TOLERANCE else f"relative error {worst:.2e} in norm, all written: {written}"


def note(work: Work) -> str:
    """How the tokens are spread."""
    counts = work.inputs["host_offset"].diff()
    asked, most = int((counts > 0).sum()), int(counts.max())
    return f"{asked} distinct experts of {len(counts)} are asked, one by at most {most} tokens"


def builds() -> tuple[Build, ...]:
    """The smallest tile and the largest, for 128 experts."""
    types = {"x_ptr": "*bf16", "weight_ptr": "*bf16", "row_ptr": "*i32", "offset_ptr": "*i32", "y_ptr": "*bf16"}
    types |= dict.fromkeys(("experts", "n", "k"), "i32")
    return tuple(
        Build(
            "tiles",
            grouped_gemm_tile,
            types,
            {"EXPERTS": 128, "BLOCK_M": rows, "BLOCK_N": columns, "BLOCK_K": inner},
            frozenset(("n", "k")),
            warps,
        )
        for rows, columns, inner, warps in (SHAPES[0], SHAPES[-1])
    )


OP = Op(
    work=work_of,
    compare=compare,
    variants={
        "tiles": Variant(tiles, configs, agreed=AGREED),
        "torch_loop": Variant(loop, agreed=AGREED),
        "torch_grouped": Variant(grouped, agreed=AGREED),
    },
    bytes_of=spec.bytes_of,
    held_bytes_of=spec.held_bytes_of,
    point=lambda _axes: True,
    note=note,
    builds=builds,
)
