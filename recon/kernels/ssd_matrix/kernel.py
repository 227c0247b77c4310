"""The Triton claim about the reference, in matrices.

With S for the state before, and G for the path's sum of dt a from the root,

    out = exp(G) c S^T + (c b^T . decay) (dt x) + d x,

where decay holds between a node and its ancestors alone. Nothing must be inverted: a token takes nothing back.
"""

import triton
import triton.language as tl

from ..ancestry import lanes_of
from ..card import Card
from ..nearness import agreed, near
from ..op import Build, Op, Variant, Work
from ..pieces import by_state, decays, dot_onto, halves, path_sums, product_by, rounded, state_halves
from ..recurrent_builds import MAMBA, TILES, build_for, tiles_of
from ..ssd import sizes
from ..wire import Axes
from . import spec
from .inputs import work_of
from .reference import reference

TOLERANCE = 1e-4
"""Largest error in norm."""


@triton.jit(do_not_specialize=["nodes"])
def ssd_matrix(
    x_ptr,
    dt_ptr,
    a_ptr,
    b_ptr,
    c_ptr,
    d_ptr,
    ancestors_ptr,
    state_ptr,
    out_ptr,
    nodes,
    GROUPS: tl.constexpr,
    HEADS: tl.constexpr,
    VALUE: tl.constexpr,
    STATE: tl.constexpr,
    NODES: tl.constexpr,
    BLOCK: tl.constexpr,
    CHUNK: tl.constexpr,
):
    """Outputs of all nodes for BLOCK features of a head; grid (VALUE / BLOCK, HEADS, batch)."""
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    head = tl.program_id(1)
    request = tl.program_id(2)
    node = tl.arange(0, NODES)
    real = node < nodes
    row = request * nodes + node
    group_row = ((row * GROUPS + head // (HEADS // GROUPS)) * STATE)[:, None]
    x_at = (row * HEADS + head)[:, None] * VALUE + column[None, :]
    entry = state_ptr + (request * HEADS + head).to(tl.int64) * (VALUE * STATE)
    bits = tl.load(ancestors_ptr + row, mask=real, other=0)
    dt = tl.load(dt_ptr + row * HEADS + head, mask=real, other=0.0)
    x = tl.load(x_ptr + x_at, mask=real[:, None], other=0.0)

    out = tl.zeros([NODES, BLOCK], tl.float32)
    seen = tl.zeros([NODES, NODES], tl.float32)
    for start in range(0, STATE, CHUNK):
        feature = start + tl.arange(0, CHUNK)
        c = tl.load(c_ptr + group_row + feature[None, :], mask=real[:, None], other=0.0)
        b = tl.load(b_ptr + group_row + feature[None, :], mask=real[:, None], other=0.0)
        state = tl.load(entry + column[None, :] * STATE + feature[:, None])  # turned: [CHUNK, BLOCK]
        high, low = state_halves(state)
        out = by_state(c, high, low, out, state_ptr.dtype.element_ty)
        seen = dot_onto(c, tl.trans(b), seen)
    above = ((bits[:, None] >> node[None, :]) & 1) != 0
    whole, part = path_sums(above, dt * tl.load(a_ptr + head))
    seen_high, seen_low = halves(seen * decays(above, whole, part) * dt[None, :])
    out = out * tl.exp(whole + part)[:, None] + product_by(seen_high, seen_low, x)
    out += tl.load(d_ptr + head) * x.to(tl.float32)
    tl.store(out_ptr + x_at, rounded(out, out_ptr.dtype.element_ty), mask=real[:, None])


def matrix(work: Work, config: Axes) -> None:
    """Queue the launch."""
    batch, nodes, heads, value, groups, size = sizes(work.axes)
    block = min(int(config["block"]), value)
    names = ("x", "dt", "a", "b", "c", "d", "ancestors", "state")
    ssd_matrix[(value // block, heads, batch)](
        *(work.inputs[name] for name in names),
        work.outputs["out"],
        nodes,
        GROUPS=groups,
        HEADS=heads,
        VALUE=value,
        STATE=size,
        NODES=lanes_of(nodes),
        BLOCK=block,
        CHUNK=min(int(config["chunk"]), size),
        num_warps=int(config["warps"]),
    )


def configs(axes: Axes, card: Card) -> tuple[Axes, ...]:
    """Features and warps of a program."""
    batch, nodes, heads, value, _, _ = sizes(axes)
    tiles = tiles_of(card, nodes, value, batch * heads, light=False)
    return tuple({"block": block, "chunk": chunk, "warps": warps} for block, chunk, warps in tiles)


def compare(work: Work) -> str:
    """First node whose outputs are not those of the reference."""
    want = reference(work.inputs)
    return near("out", work.outputs["out"].flatten(0, 1), want.flatten(0, 1), TOLERANCE)


def builds() -> tuple[Build, ...]:
    """The configurations that are chosen."""
    return tuple(
        build_for(archs, "matrix", ssd_matrix, warps, **MAMBA, NODES=64, BLOCK=block, CHUNK=chunk)
        for archs, block, chunk, warps in TILES
    )


OP = Op(
    work=work_of,
    compare=compare,
    variants={"matrix": Variant(matrix, configs, agreed=agreed(TOLERANCE))},
    bytes_of=spec.bytes_of,
    builds=builds,
)
