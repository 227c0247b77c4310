"""Triton products on matrix units in bf16, as exact as is asked for, and what masks of ancestors make of them.

A float32 tile is taken apart into a bf16 number and what that left, again in bf16: sixteen bits in all. What is bf16
already is exact. PIECES is how many of them are multiplied: with 2, all products but that of the two lesser ones.
"""

import os

import triton
import triton.language as tl

INTERPRETED = tl.constexpr(os.environ.get("TRITON_INTERPRET") == "1")
"""Triton's interpreter holds bf16 as words of 16 bits, and would multiply those."""


@triton.jit
def dot(a, b):
    """Product of two bf16 tiles, summed in float32."""
    return tl.dot(a.to(tl.float32), b.to(tl.float32)) if INTERPRETED else tl.dot(a, b)


@triton.jit
def dot_onto(a, b, out):
    """Likewise, added to what is there."""
    return tl.dot(a.to(tl.float32), b.to(tl.float32), out) if INTERPRETED else tl.dot(a, b, out)


@triton.jit
def rounded(x, TYPE: tl.constexpr):
    """A float32 tile in another type, to the nearest; the interpreter by itself would cut bf16 off."""
    if INTERPRETED and tl.bfloat16 == TYPE:
        bits = x.to(tl.int32, bitcast=True)
        bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & -65536
        x = bits.to(tl.float32, bitcast=True)
    return x.to(TYPE)


@triton.jit
def halves(x):
    """The two pieces of a float32 tile."""
    high = rounded(x, tl.bfloat16)
    return high, rounded(x - high.to(tl.float32), tl.bfloat16)


@triton.jit
def state_halves(x):
    """The two pieces of a state, of which one in bf16 has but the first."""
    if x.dtype == tl.bfloat16:
        high, low = x, x
    else:
        high, low = halves(x)
    return high, low


@triton.jit
def product(a_high, a_low, b_high, b_low, PIECES: tl.constexpr):
    """Product of two tiles that were taken apart."""
    out = dot(a_high, b_high)
    if PIECES > 1:
        out = dot_onto(a_high, b_low, dot_onto(a_low, b_high, out))
    return out


@triton.jit
def by_state(a, high, low, out, TYPE: tl.constexpr):
    """Product of a bf16 tile with a state of that type, which `state_halves` took apart, added to what is there."""
    out = dot_onto(a, high, out)
    if tl.float32 == TYPE:
        out = dot_onto(a, low, out)
    return out


@triton.jit
def product_by(a_high, a_low, b):
    """Product of a tile that was taken apart with a bf16 one."""
    return dot_onto(a_low, b, dot(a_high, b))


@triton.jit
def path_sums(above, value):
    """Sum of `value` over the path from a root down to each node: its whole part and the rest, float32 [T] each.

    As a product with the mask. Whole parts are summed apart, exactly, so that the difference of two sums holds its
    digits however much was summed before both; pieces of bf16 suffice for values above -65,536.

    Args:
        above: bool [T, T]. Column s is row t or an ancestor of it.
        value: float32 [T], none above zero.
    """
    value = tl.maximum(value, -65000.0)
    whole = tl.floor(value)
    upper = tl.floor(whole * 0.00390625) * 256.0
    part = value - whole
    high = part.to(tl.bfloat16).to(tl.float32)
    middle = (part - high).to(tl.bfloat16).to(tl.float32)
    piece = tl.arange(0, 16)[:, None]
    rows = tl.where(piece == 0, upper[None, :], tl.where(piece == 1, (whole - upper)[None, :], 0.0))
    rows = tl.where(piece == 2, high[None, :], tl.where(piece == 3, middle[None, :], rows))
    rows = tl.where(piece == 4, (part - high - middle)[None, :], rows).to(tl.bfloat16)
    sums = dot(tl.where(above, 1.0, 0.0).to(tl.bfloat16), tl.trans(rows))  # [T, 16]
    column = tl.arange(0, 16)[None, :]
    return tl.sum(tl.where(column < 2, sums, 0.0), axis=1), tl.sum(tl.where(column < 2, 0.0, sums), axis=1)


@triton.jit
def decays(above, whole, part):
    """Decay from each ancestor to each node, zero elsewhere: float32 [T, T], from what `path_sums` gave."""
    gap = (whole[:, None] - whole[None, :]) + (part[:, None] - part[None, :])
    return tl.exp(tl.where(above, gap, -1000.0))
