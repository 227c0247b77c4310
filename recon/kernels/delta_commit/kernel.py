"""The commit: one program carries a block of columns of a state along the accepted path, and writes it once."""

import triton
import triton.language as tl

from ..card import Card
from ..delta import sizes, walks
from ..delta_step.step import advance, unit
from ..nearness import agreed, near
from ..op import Build, Op, Variant, Work
from ..pieces import rounded
from ..recurrent_builds import DELTA, build
from ..wire import Axes
from . import spec
from .inputs import work_of

TOLERANCE = 1e-4
"""Error of a state in norm."""


@triton.jit(do_not_specialize=["nodes"])
def delta_commit(
    k_ptr,
    v_ptr,
    g_ptr,
    beta_ptr,
    path_ptr,
    steps_ptr,
    state_ptr,
    after_ptr,
    nodes,
    KEY_HEADS: tl.constexpr,
    VALUE_HEADS: tl.constexpr,
    KEY: tl.constexpr,
    VALUE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """State behind the last node of the path; grid (VALUE / BLOCK, VALUE_HEADS, batch)."""
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    head = tl.program_id(1)
    request = tl.program_id(2)
    feature = tl.arange(0, KEY)
    entry = (request * VALUE_HEADS + head).to(tl.int64) * (KEY * VALUE)
    tile = entry + feature[:, None] * VALUE + column[None, :]
    state = tl.load(state_ptr + tile).to(tl.float32)
    for step in range(tl.load(steps_ptr + request)):
        row = request * nodes + tl.load(path_ptr + request * nodes + step)
        token = row * VALUE_HEADS + head
        k = unit(k_ptr + (row * KEY_HEADS + head // (VALUE_HEADS // KEY_HEADS)) * KEY, feature)
        v = tl.load(v_ptr + token * VALUE + column).to(tl.float32)
        state = advance(state, k, v, tl.load(g_ptr + token), tl.load(beta_ptr + token))
    tl.store(after_ptr + tile, rounded(state, after_ptr.dtype.element_ty))


def walk(work: Work, config: Axes) -> None:
    """Queue the launch."""
    batch, nodes, keys, heads, key, value = sizes(work.axes)
    block = min(int(config["block"]), value)
    delta_commit[(value // block, heads, batch)](
        *(work.inputs[name] for name in ("k", "v", "g", "beta", "path", "steps", "state")),
        work.outputs["after"],
        nodes,
        KEY_HEADS=keys,
        VALUE_HEADS=heads,
        KEY=key,
        VALUE=value,
        BLOCK=block,
        num_warps=int(config["warps"]),
    )


def configs(_axes: Axes, _card: Card) -> tuple[Axes, ...]:
    """Columns of a program, 32 elements of a state to a thread or 16."""
    return tuple({"block": block, "warps": warps} for block, warps in ((16, 2), (32, 4)))


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
    return (build("walk", delta_commit, 2, **DELTA, BLOCK=16),)


OP = Op(
    work=work_of,
    compare=compare,
    variants={"walk": Variant(walk, configs, agreed=agreed(TOLERANCE))},
    bytes_of=spec.bytes_of,
    note=note,
    builds=builds,
    held_bytes_of=spec.held_bytes_of,
)
