"""The Triton claim about the reference, in matrices.

With u for the updates of all nodes, and A for what they take back from one another,

    (I + A) u = beta (v - exp(G) k S),   out = exp(G) q S + (q k^T . decay) u,

where decay and A hold between a node and its ancestors alone, G is the path's sum of g from the root, and S the state
before. (I + A)^-1 is built over *levels*: known within blocks of levels, it is known within blocks twice as large,
since the part below the diagonal is -X A X of what is known. That takes as many steps as squaring A, the logarithm of
the depth, and unlike squaring it stays right where keys are alike, for nothing grows beyond the inverse itself.
"""

from collections.abc import Callable

import triton
import triton.language as tl

from ..ancestry import doublings_of, lanes_of, most_drafts
from ..card import Card
from ..delta import EPSILON as _EPSILON
from ..delta import sizes
from ..nearness import agreed, near
from ..op import Build, Op, Variant, Work
from ..pieces import by_state, decays, dot_onto, halves, path_sums, product, rounded, state_halves
from ..recurrent_builds import DELTA, TILES, build_for, tiles_of
from ..wire import Axes
from . import spec
from .inputs import work_of
from .reference import reference

QUICK, EXACT = 3e-3, 1e-4
"""Largest errors in norm of the two variants."""
EPSILON: tl.constexpr = tl.constexpr(_EPSILON)


@triton.jit
def inverse_of(pull, level, same, doublings, PIECES: tl.constexpr):
    """Inverse of I + `pull`, over the levels of nodes.

    The highest bit in which two levels differ tells how large blocks of levels are that hold both.
    """
    up = level[:, None]
    down = level[None, :]
    inverse = tl.where(same, 1.0, 0.0) - tl.where((up >> 1) == (down >> 1), pull, 0.0)
    pull_high, pull_low = halves(pull)
    span = 1
    for _ in range(doublings):
        high, low = halves(inverse)
        once_high, once_low = halves(product(high, low, pull_high, pull_low, PIECES))
        twice = product(once_high, once_low, high, low, PIECES)
        inverse -= tl.where(((up >> span) ^ (down >> span)) == 1, twice, 0.0)
        span += 1
    return inverse


@triton.jit(do_not_specialize=["nodes", "doublings"])
def delta_matrix(
    q_ptr,
    k_ptr,
    v_ptr,
    g_ptr,
    beta_ptr,
    ancestors_ptr,
    level_ptr,
    state_ptr,
    out_ptr,
    nodes,
    doublings,
    scale,
    KEY_HEADS: tl.constexpr,
    VALUE_HEADS: tl.constexpr,
    KEY: tl.constexpr,
    VALUE: tl.constexpr,
    NODES: tl.constexpr,
    BLOCK: tl.constexpr,
    CHUNK: tl.constexpr,
    PIECES: tl.constexpr,
):
    """Outputs of all nodes for BLOCK columns of a value head; grid (VALUE / BLOCK, VALUE_HEADS, batch)."""
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    head = tl.program_id(1)
    request = tl.program_id(2)
    key_head = head // (VALUE_HEADS // KEY_HEADS)
    node = tl.arange(0, NODES)
    real = node < nodes
    row = request * nodes + node
    key_row = ((row * KEY_HEADS + key_head) * KEY)[:, None]
    v_at = (row * VALUE_HEADS + head)[:, None] * VALUE + column[None, :]
    entry = state_ptr + (request * VALUE_HEADS + head).to(tl.int64) * (KEY * VALUE)
    bits = tl.load(ancestors_ptr + row, mask=real, other=0)
    level = tl.load(level_ptr + row, mask=real, other=0)
    g = tl.load(g_ptr + row * VALUE_HEADS + head, mask=real, other=0.0)
    beta = tl.load(beta_ptr + row * VALUE_HEADS + head, mask=real, other=0.0)

    pairs = tl.zeros([NODES, NODES], tl.float32)
    for start in range(0, KEY, CHUNK):
        feature = start + tl.arange(0, CHUNK)[None, :]
        k = tl.load(k_ptr + key_row + feature, mask=real[:, None], other=0.0)
        pairs = dot_onto(k, tl.trans(k), pairs)
    above = ((bits[:, None] >> node[None, :]) & 1) != 0
    whole, part = path_sums(above, g)
    # All scales of keys stand on the side of rows, so that nothing must be turned: updates are of keys as they came.
    same = node[:, None] == node[None, :]
    k_norm = 1.0 / (tl.sum(tl.where(same, pairs, 0.0), axis=1) + EPSILON)
    pull = tl.where(same, 0.0, pairs * decays(above, whole, part) * (beta * k_norm)[:, None])
    inverse_high, inverse_low = halves(inverse_of(pull, level, same, doublings, PIECES))

    # The state is asked for only now: its registers, held any longer, would be too many.
    known = tl.zeros([NODES, BLOCK], tl.float32)
    out = tl.zeros([NODES, BLOCK], tl.float32)
    for start in range(0, KEY, CHUNK):
        feature = start + tl.arange(0, CHUNK)
        q = tl.load(q_ptr + key_row + feature[None, :], mask=real[:, None], other=0.0)
        k = tl.load(k_ptr + key_row + feature[None, :], mask=real[:, None], other=0.0)
        high, low = state_halves(tl.load(entry + feature[:, None] * VALUE + column[None, :]))
        known = by_state(k, high, low, known, state_ptr.dtype.element_ty)
        out = by_state(q, high, low, out, state_ptr.dtype.element_ty)
    from_root = tl.exp(whole + part)
    v = tl.load(v_ptr + v_at, mask=real[:, None], other=0.0)
    rest = v.to(tl.float32) * (beta * tl.sqrt(k_norm))[:, None] - known * (from_root * beta * k_norm)[:, None]
    rest_high, rest_low = halves(rest)
    update_high, update_low = halves(product(inverse_high, inverse_low, rest_high, rest_low, PIECES))
    seen = tl.zeros([NODES, NODES], tl.float32)
    q_norm = tl.zeros([NODES], tl.float32)
    for start in range(0, KEY, CHUNK):
        feature = start + tl.arange(0, CHUNK)[None, :]
        q = tl.load(q_ptr + key_row + feature, mask=real[:, None], other=0.0)
        k = tl.load(k_ptr + key_row + feature, mask=real[:, None], other=0.0)
        seen = dot_onto(q, tl.trans(k), seen)
        q_norm += tl.sum(q.to(tl.float32) * q.to(tl.float32), axis=1)
    seen_high, seen_low = halves(seen * decays(above, whole, part))
    out = out * from_root[:, None] + product(seen_high, seen_low, update_high, update_low, PIECES)
    out *= (scale / tl.sqrt(q_norm + EPSILON))[:, None]
    tl.store(out_ptr + v_at, rounded(out, out_ptr.dtype.element_ty), mask=real[:, None])


def matrix(work: Work, config: Axes) -> None:
    """Queue the launch."""
    batch, nodes, keys, heads, key, value = sizes(work.axes)
    block = min(int(config["block"]), value)
    names = ("q", "k", "v", "g", "beta", "ancestors", "level", "state")
    delta_matrix[(value // block, heads, batch)](
        *(work.inputs[name] for name in names),
        work.outputs["out"],
        nodes,
        doublings_of(most_drafts(work.axes)),
        key**-0.5,
        KEY_HEADS=keys,
        VALUE_HEADS=heads,
        KEY=key,
        VALUE=value,
        NODES=lanes_of(nodes),
        BLOCK=block,
        CHUNK=min(int(config["chunk"]), key),
        PIECES=int(config["pieces"]),
        num_warps=int(config["warps"]),
    )


def _configs(pieces: int) -> Callable[[Axes, Card], tuple[Axes, ...]]:
    """Columns and warps of a program, in so many pieces of bf16."""

    def configs(axes: Axes, card: Card) -> tuple[Axes, ...]:
        batch, nodes, _, heads, _, value = sizes(axes)
        tiles = tiles_of(card, nodes, value, batch * heads, light=pieces == 1)
        return tuple(
            {"block": block, "chunk": chunk, "warps": warps, "pieces": pieces} for block, chunk, warps in tiles
        )

    return configs


def _within(tolerance: float) -> Callable[[Work], str]:
    """A comparison with the reference."""

    def compare(work: Work) -> str:
        want = reference(work.inputs)
        return near("out", work.outputs["out"].flatten(0, 1), want.flatten(0, 1), tolerance)

    return compare


def builds() -> tuple[Build, ...]:
    """Both variants in the configurations that are chosen, and for the most nodes that registers suffice for.

    The quick one is wider where there are many programs, and spills then.
    """
    chosen = [
        (archs, name, warps, {"NODES": nodes, "BLOCK": block, "CHUNK": chunk, "PIECES": pieces})
        for archs, block, chunk, warps in TILES
        for name, pieces, nodes in (("exact", 2, 32 if archs == (120,) else 64), ("quick", 1, 64))
    ]
    chosen.append(((90,), "quick", 4, {"NODES": 64, "BLOCK": 128, "CHUNK": 128, "PIECES": 1}))
    return tuple(
        build_for(archs, name, delta_matrix, warps, **DELTA, **constants) for archs, name, warps, constants in chosen
    )


OP = Op(
    work=work_of,
    compare=_within(EXACT),
    variants={
        "quick": Variant(matrix, _configs(1), compare=_within(QUICK), agreed=agreed(QUICK)),
        "exact": Variant(matrix, _configs(2), agreed=agreed(EXACT)),
    },
    bytes_of=spec.bytes_of,
    builds=builds,
)
