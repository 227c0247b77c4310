"""The copy: which state it is, is read on the device, so that nothing waits for the host."""

import triton
import triton.language as tl

from ..card import Card
from ..op import Build, Op, Variant, Work, compare_exactly
from ..recurrent_builds import build
from ..wire import Axes
from . import spec
from .inputs import work_of
from .reference import reference


@triton.jit(do_not_specialize=["nodes"])
def state_scatter(states_ptr, path_ptr, steps_ptr, after_ptr, nodes, size, BLOCK: tl.constexpr):
    """Copy BLOCK elements of the accepted state; grid (ceil(size / BLOCK), batch)."""
    request = tl.program_id(1).to(tl.int64)
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    node = tl.load(path_ptr + request * nodes + tl.load(steps_ptr + request) - 1)
    value = tl.load(states_ptr + (request * nodes + node) * size + index, mask=index < size)
    tl.store(after_ptr + request * size + index, value, mask=index < size)


def scatter(work: Work, config: Axes) -> None:
    """Queue the launch."""
    states, after, block = work.inputs["states"], work.outputs["after"], int(config["block"])
    size = after[0].numel()
    state_scatter[(-(-size // block), len(after))](
        states,
        work.inputs["path"],
        work.inputs["steps"],
        after,
        states.shape[1],
        size,
        BLOCK=block,
        num_warps=int(config["warps"]),
    )


def configs(_axes: Axes, _card: Card) -> tuple[Axes, ...]:
    """Elements and warps of a program."""
    return tuple({"block": block, "warps": warps} for block, warps in ((2048, 4), (4096, 8)))


def compare(work: Work) -> str:
    """First element that is not the accepted state's."""
    return compare_exactly(work.outputs, {"after": reference(**work.inputs)})


def builds() -> tuple[Build, ...]:
    """The default configuration."""
    return (build("scatter", state_scatter, 4, BLOCK=2048),)


OP = Op(
    work=work_of,
    compare=compare,
    variants={"scatter": Variant(scatter, configs)},
    bytes_of=spec.bytes_of,
    builds=builds,
    held_bytes_of=spec.held_bytes_of,
)
