"""The step form: one program carries a block of features of a head's state from token to token.

States are kept and read back as in the step form of the gated delta rule.
"""

import triton
import triton.language as tl

from ..card import Card
from ..nearness import agreed, near
from ..op import Build, Op, Variant, Work
from ..pieces import rounded
from ..recurrent_builds import MAMBA, build
from ..ssd import sizes, walks
from ..wire import Axes
from . import spec
from .inputs import work_of
from .step import advance

TOLERANCE = {"fp32": 1e-4, "bf16": 1e-3}
"""By the type of the state: one in bf16 that is read back differs where rounding was a near thing."""
KEEP = {"none": 0, "last": 1, "every": 2}


@triton.jit(do_not_specialize=["nodes"])
def ssd_step(
    x_ptr,
    dt_ptr,
    a_ptr,
    b_ptr,
    c_ptr,
    d_ptr,
    parent_ptr,
    state_ptr,
    out_ptr,
    states_ptr,
    nodes,
    GROUPS: tl.constexpr,
    HEADS: tl.constexpr,
    VALUE: tl.constexpr,
    STATE: tl.constexpr,
    BLOCK: tl.constexpr,
    TREE: tl.constexpr,
    KEEP: tl.constexpr,
):
    """Outputs of all nodes, and their states where KEEP is 2, or the last one's where it is 1.

    Grid (VALUE / BLOCK, HEADS, batch).
    """
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    head = tl.program_id(1)
    request = tl.program_id(2)
    feature = tl.arange(0, STATE)
    tile = column[:, None] * STATE + feature[None, :]
    before_ptr = state_ptr + (request * HEADS + head).to(tl.int64) * (VALUE * STATE)
    state = tl.load(before_ptr + tile).to(tl.float32)
    a = tl.load(a_ptr + head)
    d = tl.load(d_ptr + head)
    for node in range(nodes):
        row = request * nodes + node
        token = row * HEADS + head
        if TREE:
            parent = tl.load(parent_ptr + row)
            tl.debug_barrier()  # other threads may have stored what this one loads
            kept = ((request * nodes + parent) * HEADS + head).to(tl.int64) * (VALUE * STATE)
            state = tl.load(tl.where(parent >= 0, states_ptr + kept, before_ptr) + tile).to(tl.float32)
        group_row = (row * GROUPS + head // (HEADS // GROUPS)) * STATE
        x = tl.load(x_ptr + token * VALUE + column).to(tl.float32)
        b = tl.load(b_ptr + group_row + feature).to(tl.float32)
        c = tl.load(c_ptr + group_row + feature).to(tl.float32)
        state = advance(state, x, tl.load(dt_ptr + token), a, b)
        out = tl.sum(state * c[None, :], axis=1) + d * x
        tl.store(out_ptr + token * VALUE + column, rounded(out, out_ptr.dtype.element_ty))
        if KEEP == 2:
            tl.store(
                states_ptr + token.to(tl.int64) * (VALUE * STATE) + tile, rounded(state, states_ptr.dtype.element_ty)
            )
    if KEEP == 1:
        entry = (request * HEADS + head).to(tl.int64) * (VALUE * STATE)
        tl.store(states_ptr + entry + tile, rounded(state, states_ptr.dtype.element_ty))


def step(work: Work, config: Axes) -> None:
    """Queue the launch."""
    batch, nodes, heads, value, groups, size = sizes(work.axes)
    block = min(int(config["block"]), value)
    ssd_step[(value // block, heads, batch)](
        *(work.inputs[name] for name in ("x", "dt", "a", "b", "c", "d", "parent", "state")),
        work.outputs["out"],
        work.outputs.get("states", work.inputs["state"]),
        nodes,
        GROUPS=groups,
        HEADS=heads,
        VALUE=value,
        STATE=size,
        BLOCK=block,
        TREE=int(work.axes.get("shape") != "chain"),
        KEEP=KEEP[str(work.axes.get("keep", "every"))],
        num_warps=int(config["warps"]),
    )


def configs(_axes: Axes, _card: Card) -> tuple[Axes, ...]:
    """Features of a program, 32 elements of a state to a thread or 16."""
    return tuple({"block": block, "warps": warps} for block, warps in ((8, 1), (16, 2), (16, 4)))


def compare(work: Work) -> str:
    """First node whose outputs or states are not those of the reference, request by request: states are large."""
    keep, tolerance = str(work.axes.get("keep", "every")), TOLERANCE[str(work.axes["state"])]
    tree = work.axes.get("shape") != "chain"
    for request, (out, states) in enumerate(walks(work.inputs, reread=tree)):
        wrong = near(f"request {request}, out", work.outputs["out"][request], out, tolerance)
        if keep != "none" and not wrong:
            want = states if keep == "every" else states[-1:]
            wrong = near(f"request {request}, states", work.outputs["states"][request], want, tolerance)
        if wrong:
            return wrong
    return ""


def builds() -> tuple[Build, ...]:
    """A tree whose states are all kept."""
    return (build("step", ssd_step, 1, **MAMBA, BLOCK=8, TREE=1, KEEP=2),)


OP = Op(
    work=work_of,
    compare=compare,
    variants={"step": Variant(step, configs, agreed=agreed(TOLERANCE["bf16"]))},
    bytes_of=spec.bytes_of,
    builds=builds,
)
