"""The commit: one program carries a block of features of a head's state along the accepted path, and writes it once."""

import triton
import triton.language as tl

from ..card import Card
from ..nearness import agreed, near
from ..op import Build, Op, Variant, Work
from ..pieces import rounded
from ..recurrent_builds import MAMBA, build
from ..ssd import sizes, walks
from ..ssd_step.step import advance
from ..wire import Axes
from . import spec
from .inputs import work_of

TOLERANCE = 1e-4
"""Error of a state in norm."""


@triton.jit(do_not_specialize=["nodes"])
def ssd_commit(
    x_ptr,
    dt_ptr,
    a_ptr,
    b_ptr,
    path_ptr,
    steps_ptr,
    state_ptr,
    after_ptr,
    nodes,
    GROUPS: tl.constexpr,
    HEADS: tl.constexpr,
    VALUE: tl.constexpr,
    STATE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """State behind the last node of the path; grid (VALUE / BLOCK, HEADS, batch)."""
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    head = tl.program_id(1)
    request = tl.program_id(2)
    feature = tl.arange(0, STATE)
    entry = (request * HEADS + head).to(tl.int64) * (VALUE * STATE)
    tile = entry + column[:, None] * STATE + feature[None, :]
    state = tl.load(state_ptr + tile).to(tl.float32)
    a = tl.load(a_ptr + head)
    for step in range(tl.load(steps_ptr + request)):
        row = request * nodes + tl.load(path_ptr + request * nodes + step)
        token = row * HEADS + head
        x = tl.load(x_ptr + token * VALUE + column).to(tl.float32)
        b = tl.load(b_ptr + (row * GROUPS + head // (HEADS // GROUPS)) * STATE + feature).to(tl.float32)
        state = advance(state, x, tl.load(dt_ptr + token), a, b)
    tl.store(after_ptr + tile, rounded(state, after_ptr.dtype.element_ty))


def walk(work: Work, config: Axes) -> None:
    """Queue the launch."""
    batch, nodes, heads, value, groups, size = sizes(work.axes)
    block = min(int(config["block"]), value)
    ssd_commit[(value // block, heads, batch)](
        *(work.inputs[name] for name in ("x", "dt", "a", "b", "path", "steps", "state")),
        work.outputs["after"],
        nodes,
        GROUPS=groups,
        HEADS=heads,
        VALUE=value,
        STATE=size,
        BLOCK=block,
        num_warps=int(config["warps"]),
    )


def configs(_axes: Axes, _card: Card) -> tuple[Axes, ...]:
    """Features of a program, 32 elements of a state to a thread or 16."""
    return tuple({"block": block, "warps": warps} for block, warps in ((32, 8), (16, 2)))


def compare(work: Work) -> str:
    """First request whose state is not that of the reference."""
    for request, (_, states) in enumerate(walks(work.inputs)):
        last = int(work.inputs["path"][request, work.inputs["steps"][request] - 1])
        wrong = near(f"request {request}, after", work.outputs["after"][request][None], states[last][None], TOLERANCE)
        if wrong:
            return wrong
    return ""


def note(work: Work) -> str:
    """How long the paths are."""
    return f"nodes on the accepted path: {work.inputs['steps'].float().mean().item():.2f}"


def builds() -> tuple[Build, ...]:
    """The default configuration."""
    return (build("walk", ssd_commit, 8, **MAMBA, BLOCK=32),)


OP = Op(
    work=work_of,
    compare=compare,
    variants={"walk": Variant(walk, configs, agreed=agreed(TOLERANCE))},
    bytes_of=spec.bytes_of,
    note=note,
    builds=builds,
    held_bytes_of=spec.held_bytes_of,
)
