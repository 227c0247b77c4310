"""The Triton claim about the reference: a copy whose rows are found on the device."""

import triton
import triton.language as tl

from ..card import Card
from ..op import Build, Op, Variant, Work, compare_exactly
from ..recurrent_builds import CHANNELS, build
from ..wire import Axes
from . import spec
from .inputs import work_of
from .reference import reference


@triton.jit(do_not_specialize=["nodes"])
def conv_commit(
    x_ptr,
    window_ptr,
    path_ptr,
    steps_ptr,
    after_ptr,
    nodes,
    CHANNELS: tl.constexpr,
    KEPT: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Copy BLOCK channels of one of KEPT rows; grid (ceil(CHANNELS / BLOCK), KEPT, batch)."""
    channel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.program_id(1)
    request = tl.program_id(2).to(tl.int64)
    place = tl.load(steps_ptr + request) - KEPT + row  # on the path; below zero it is the old window's
    node = tl.load(path_ptr + request * nodes + place, mask=place >= 0, other=0)
    from_x = x_ptr + (request * nodes + node) * CHANNELS
    from_window = window_ptr + (request * KEPT + KEPT + place) * CHANNELS
    value = tl.load(tl.where(place >= 0, from_x, from_window) + channel, mask=channel < CHANNELS)
    tl.store(after_ptr + (request * KEPT + row) * CHANNELS + channel, value, mask=channel < CHANNELS)


def copy(work: Work, config: Axes) -> None:
    """Queue the launch."""
    batch, nodes, channels = work.inputs["x"].shape
    kept, block = work.inputs["window"].shape[1], int(config["block"])
    conv_commit[(-(-channels // block), kept, batch)](
        *(work.inputs[name] for name in ("x", "window", "path", "steps")),
        work.outputs["after"],
        nodes,
        CHANNELS=channels,
        KEPT=kept,
        BLOCK=block,
        num_warps=int(config["warps"]),
    )


def configs(_axes: Axes, _card: Card) -> tuple[Axes, ...]:
    """Channels and warps of a program."""
    return tuple({"block": block, "warps": warps} for block, warps in ((1024, 4),))


def compare(work: Work) -> str:
    """First element that is not the reference's."""
    return compare_exactly(work.outputs, {"after": reference(work.inputs)})


def builds() -> tuple[Build, ...]:
    """The default configuration."""
    return (build("copy", conv_commit, 4, CHANNELS=CHANNELS, KEPT=3, BLOCK=1024),)


OP = Op(
    work=work_of,
    compare=compare,
    variants={"copy": Variant(copy, configs)},
    bytes_of=spec.bytes_of,
    builds=builds,
    held_bytes_of=spec.held_bytes_of,
)
