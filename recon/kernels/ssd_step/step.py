"""Triton's step of Mamba-2: one token, one block of features of a head."""

import triton
import triton.language as tl


@triton.jit
def advance(state, x, dt, a, b):
    """The state [BLOCK, N] behind a token; x is [BLOCK], b [N], dt and a are numbers."""
    return state * tl.exp(dt * a) + (dt * x)[:, None] * b[None, :]
