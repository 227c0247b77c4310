"""The step form: one program carries a block of columns of a state from token to token.

Along a chain the state stays in registers. In a tree a node begins from the state that its parent left in memory, which
is what keeping a state for every node is for; that memory is as large as the states of all nodes.
"""

import triton
import triton.language as tl

from ..card import Card
from ..delta import sizes, walks
from ..nearness import agreed, near
from ..op import Build, Op, Variant, Work
from ..pieces import rounded
from ..recurrent_builds import DELTA, build
from ..wire import Axes
from . import spec
from .inputs import work_of
from .step import advance, unit

TOLERANCE = {"fp32": 1e-4, "bf16": 1e-3}
"""By the type of the state: one in bf16 that is read back differs where rounding was a near thing."""
KEEP = {"none": 0, "last": 1, "every": 2}


@triton.jit(do_not_specialize=["nodes"])
def delta_step(
    q_ptr,
    k_ptr,
    v_ptr,
    g_ptr,
    beta_ptr,
    parent_ptr,
    state_ptr,
    out_ptr,
    states_ptr,
    nodes,
    scale,
    KEY_HEADS: tl.constexpr,
    VALUE_HEADS: tl.constexpr,
    KEY: tl.constexpr,
    VALUE: tl.constexpr,
    BLOCK: tl.constexpr,
    TREE: tl.constexpr,
    KEEP: tl.constexpr,
):
    """Outputs of all nodes, and their states where KEEP is 2, or the last one's where it is 1.

    Grid (VALUE / BLOCK, VALUE_HEADS, batch).
    """
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    head = tl.program_id(1)
    request = tl.program_id(2)
    feature = tl.arange(0, KEY)
    tile = feature[:, None] * VALUE + column[None, :]
    before_ptr = state_ptr + (request * VALUE_HEADS + head).to(tl.int64) * (KEY * VALUE)
    state = tl.load(before_ptr + tile).to(tl.float32)
    for node in range(nodes):
        row = request * nodes + node
        token = row * VALUE_HEADS + head
        if TREE:
            parent = tl.load(parent_ptr + row)
            tl.debug_barrier()  # other threads may have stored what this one loads
            kept = ((request * nodes + parent) * VALUE_HEADS + head).to(tl.int64) * (KEY * VALUE)
            state = tl.load(tl.where(parent >= 0, states_ptr + kept, before_ptr) + tile).to(tl.float32)
        key_row = (row * KEY_HEADS + head // (VALUE_HEADS // KEY_HEADS)) * KEY
        v = tl.load(v_ptr + token * VALUE + column).to(tl.float32)
        state = advance(state, unit(k_ptr + key_row, feature), v, tl.load(g_ptr + token), tl.load(beta_ptr + token))
        out = tl.sum(state * (unit(q_ptr + key_row, feature) * scale)[:, None], axis=0)
        tl.store(out_ptr + token * VALUE + column, rounded(out, out_ptr.dtype.element_ty))
        if KEEP == 2:
            tl.store(
                states_ptr + token.to(tl.int64) * (KEY * VALUE) + tile, rounded(state, states_ptr.dtype.element_ty)
            )
    if KEEP == 1:
        entry = (request * VALUE_HEADS + head).to(tl.int64) * (KEY * VALUE)
        tl.store(states_ptr + entry + tile, rounded(state, states_ptr.dtype.element_ty))


def step(work: Work, config: Axes) -> None:
    """Queue the launch."""
    batch, nodes, keys, heads, key, value = sizes(work.axes)
    block = min(int(config["block"]), value)
    tree = work.axes.get("shape") != "chain"
    delta_step[(value // block, heads, batch)](
        *(work.inputs[name] for name in ("q", "k", "v", "g", "beta", "parent", "state")),
        work.outputs["out"],
        work.outputs.get("states", work.inputs["state"]),
        nodes,
        key**-0.5,
        KEY_HEADS=keys,
        VALUE_HEADS=heads,
        KEY=key,
        VALUE=value,
        BLOCK=block,
        TREE=int(tree),
        KEEP=KEEP[str(work.axes.get("keep", "every"))],
        num_warps=int(config["warps"]),
    )


def configs(_axes: Axes, _card: Card) -> tuple[Axes, ...]:
    """Columns of a program, 32 elements of a state to a thread or 16."""
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
    """A tree whose states are all kept, and a chain that keeps none."""
    return (
        build("step", delta_step, 1, **DELTA, BLOCK=8, TREE=1, KEEP=2),
        build("step", delta_step, 1, **DELTA, BLOCK=8, TREE=0, KEEP=0),
    )


OP = Op(
    work=work_of,
    compare=compare,
    variants={"step": Variant(step, configs, agreed=agreed(TOLERANCE["bf16"]))},
    bytes_of=spec.bytes_of,
    builds=builds,
)
