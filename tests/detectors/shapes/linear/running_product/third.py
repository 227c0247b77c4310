import jax.numpy as jnp


def v2(a, b):
    c = jnp.argmax(b, axis=-1)
    k = jnp.sum(jnp.cumprod((a == c[:-1]).astype(jnp.int32)))
    return jnp.where(jnp.arange(c.shape[0]) <= k, c, -1), k
