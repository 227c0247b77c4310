"""The Triton claim about the reference: one program holds a few nodes and many channels, and climbs from each node.

Inputs are asked for once by each node that sees them; all but the first time they come from a cache.
"""

import triton
import triton.language as tl

from ..card import Card
from ..nearness import agreed, near
from ..op import Build, Op, Variant, Work
from ..pieces import rounded
from ..recurrent_builds import CHANNELS, build
from ..wire import Axes
from . import spec
from .inputs import work_of
from .reference import reference

TOLERANCE = 1e-4
"""Largest error in norm, beyond rounding to bf16."""


@triton.jit(do_not_specialize=["nodes"])
def conv_tree(
    x_ptr,
    weight_ptr,
    window_ptr,
    parent_ptr,
    out_ptr,
    nodes,
    CHANNELS: tl.constexpr,
    WIDTH: tl.constexpr,
    NODES: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Outputs of NODES nodes in BLOCK channels; grid (ceil(CHANNELS / BLOCK), ceil(nodes / NODES), batch)."""
    channel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    node = tl.program_id(1) * NODES + tl.arange(0, NODES)
    request = tl.program_id(2).to(tl.int64)
    real = node < nodes
    inside = channel < CHANNELS
    at = tl.where(real, node, -1)  # below zero: so many steps beyond the root
    total = tl.zeros([NODES, BLOCK], tl.float32)
    for back in tl.static_range(WIDTH):
        weight = tl.load(weight_ptr + channel * WIDTH + (WIDTH - 1 - back), mask=inside, other=0.0)
        from_x = x_ptr + ((request * nodes + at) * CHANNELS)[:, None] + channel[None, :]
        from_window = window_ptr + ((request * (WIDTH - 1) + WIDTH - 1 + at) * CHANNELS)[:, None] + channel[None, :]
        there = real[:, None] & inside[None, :]
        value = tl.load(tl.where((at >= 0)[:, None], from_x, from_window), mask=there, other=0.0)
        total += weight.to(tl.float32)[None, :] * value.to(tl.float32)
        above = tl.load(parent_ptr + request * nodes + at, mask=real & (at >= 0), other=0)
        at = tl.where(at >= 0, above, at - 1)
    out = total / (1.0 + tl.exp(-total))
    out_at = ((request * nodes + node) * CHANNELS)[:, None] + channel[None, :]
    tl.store(out_ptr + out_at, rounded(out, out_ptr.dtype.element_ty), mask=real[:, None] & inside[None, :])


def climb(work: Work, config: Axes) -> None:
    """Queue the launch."""
    batch, nodes, channels = work.inputs["x"].shape
    block, group = int(config["block"]), int(config["nodes"])
    conv_tree[(-(-channels // block), -(-nodes // group), batch)](
        *(work.inputs[name] for name in ("x", "weight", "window", "parent")),
        work.outputs["out"],
        nodes,
        CHANNELS=channels,
        WIDTH=work.inputs["weight"].shape[1],
        NODES=group,
        BLOCK=block,
        num_warps=int(config["warps"]),
    )


def configs(_axes: Axes, _card: Card) -> tuple[Axes, ...]:
    """Nodes, channels and warps of a program."""
    return tuple(
        {"nodes": nodes, "block": block, "warps": warps} for nodes, block, warps in ((2, 512, 4), (16, 128, 4))
    )


def compare(work: Work) -> str:
    """First node whose outputs are not those of the reference."""
    want = reference(work.inputs)
    return near("out", work.outputs["out"].flatten(0, 1), want.flatten(0, 1), TOLERANCE)


def builds() -> tuple[Build, ...]:
    """The default configuration."""
    return (build("climb", conv_tree, 4, CHANNELS=CHANNELS, WIDTH=4, NODES=2, BLOCK=512),)


OP = Op(
    work=work_of,
    compare=compare,
    variants={"climb": Variant(climb, configs, agreed=agreed(TOLERANCE))},
    bytes_of=spec.bytes_of,
    builds=builds,
)
