import jax
import jax.numpy as jnp


class PackedTree:
    def settle(self, ids, down, side, best):
        def level(d, carry):
            at, count, path = carry

            def look(_, pair):
                k, hit = pair
                same = (k >= 0) & (ids[k] == best[at])
                hit = jnp.where((hit < 0) & same, k, hit)
                return jnp.where(k >= 0, side[k], k), hit

            _, found = jax.lax.fori_loop(0, self.width, look, (down[at], -1))
            path = path.at[d].set(found)
            return jnp.where(found >= 0, found, at), count + (found >= 0), path

        return jax.lax.fori_loop(0, self.depth, level, (0, 0, jnp.full(self.depth, -1)))
