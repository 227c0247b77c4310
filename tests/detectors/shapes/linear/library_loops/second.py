import jax
import jax.numpy as jnp


def judge(given, scores):
    tgt = jnp.argmax(scores, axis=-1)

    def f(goes, pair):
        d, t = pair
        goes = jnp.logical_and(goes, d == t)
        return goes, goes

    _, flags = jax.lax.scan(f, True, (given, tgt[:-1]))
    length = flags.sum()
    return length, tgt[length]
