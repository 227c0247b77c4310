import jax.numpy as jnp


def s2(a, b):
    e = jnp.argmax(a, axis=-1)
    m = jnp.equal(b[..., 1:], e[..., :-1])
    z = jnp.sum(jnp.cumprod(m, axis=-1), axis=-1)
    w = jnp.argmax(z, axis=-1)
    x = jnp.take_along_axis(b, w[:, None, None], axis=1)
    return x, jnp.max(z, axis=-1)
