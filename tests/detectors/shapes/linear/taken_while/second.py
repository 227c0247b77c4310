import jax
import jax.numpy as jnp


def lead(given, scores):
    best = jnp.argmax(scores, axis=-1)
    k = given.shape[0]

    def cond_fun(at):
        return jnp.logical_and(at < k, given[jnp.minimum(at, k - 1)] == best[at])

    n = jax.lax.while_loop(cond_fun, lambda at: at + 1, 0)
    return jnp.concatenate([given, best[-1:]]).at[n].set(best[n]), n + 1
