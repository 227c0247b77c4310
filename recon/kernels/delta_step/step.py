"""Triton's step of the gated delta rule: one token, one block of columns of a state."""

import triton
import triton.language as tl

from ..delta import EPSILON as _EPSILON

EPSILON: tl.constexpr = tl.constexpr(_EPSILON)


@triton.jit
def unit(ptr, feature):
    """The vector of float32 at a pointer to bf16, made a unit vector."""
    x = tl.load(ptr + feature).to(tl.float32)
    return x / tl.sqrt(tl.sum(x * x, axis=0) + EPSILON)


@triton.jit
def advance(state, k, v, g, beta):
    """The state [K, BLOCK] behind a token; k is a unit vector [K], v [BLOCK], g and beta are numbers."""
    state *= tl.exp(g)
    update = beta * (v - tl.sum(state * k[:, None], axis=0))
    return state + k[:, None] * update[None, :]
