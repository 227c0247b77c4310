import jax
import jax.numpy as jnp


def z4(y, x, a, b):
    u = jax.random.uniform(y, x.shape)
    c = jnp.take_along_axis(a[:-1], x[:, None], -1)[:, 0]
    d = jnp.take_along_axis(b, x[:, None], -1)[:, 0]
    m = jnp.cumprod(u <= jnp.minimum(1.0, c / d))
    e = m.sum()
    f = jnp.maximum(a[e] - jnp.pad(b, ((0, 1), (0, 0)))[e], 0.0)
    return e, jax.random.categorical(y, jnp.log(f))
