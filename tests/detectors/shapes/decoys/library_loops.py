import jax
import jax.numpy as jnp


def power(f, x, steps):
    def body(i, c):
        return f(c)

    return jax.lax.fori_loop(0, steps, body, x)


def newton(f, df, x0, tol):
    def cond(s):
        x, prev, i = s
        return (jnp.abs(x - prev) > tol) & (i < 50)

    def step(s):
        x, _, i = s
        return x - f(x) / df(x), x, i + 1

    return jax.lax.while_loop(cond, step, (x0, x0 + 1, 0))[0]
