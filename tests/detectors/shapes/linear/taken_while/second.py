import jax
import jax.numpy as jnp


def lead(given, scores):
    best = jnp.argmax(scores, axis=-1)
    k = given.shape[0]

    def cond_fun(i):
        return jnp.logical_and(i < k, given[jnp.minimum(i, k - 1)] == best[i])

    n = jax.lax.while_loop(cond_fun, lambda i: i + 1, 0)
    return jnp.concatenate([given, best[-1:]]).at[n].set(best[n]), n + 1
