import jax
from jax import lax
import jax.numpy as jnp


def verify_tree(tokens, first_child, next_sibling, logits):
    target = jnp.argmax(logits, -1)

    def cond(state):
        cur, n, out = state
        return cur >= 0

    def step(state):
        cur, n, out = state
        want = target[cur]

        def still(c):
            return (c >= 0) & (tokens[c] != want)

        nxt = lax.while_loop(still, lambda c: next_sibling[c], first_child[cur])
        out = out.at[n].set(want)
        return nxt, n + 1, out

    init = (0, 0, jnp.full((tokens.shape[0] + 1,), -1))
    _, n, out = lax.while_loop(cond, step, init)
    return n, out
