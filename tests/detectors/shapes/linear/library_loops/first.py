import jax
import jax.numpy as jnp


def accept(draft, logits):
    target = jnp.argmax(logits, axis=-1)

    def body(i, carry):
        n, alive = carry
        ok = alive & (draft[i] == target[i])
        return n + ok.astype(jnp.int32), ok

    n, _ = jax.lax.fori_loop(0, draft.shape[0], body, (0, True))
    return n, target[n]
