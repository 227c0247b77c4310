import numpy as np


def c3(g, y, w, rng):
    k, o = 0, []
    while True:
        e = w[k].copy()
        r = rng.random()
        s = 0.0
        z = None
        for x in g[k]:
            s += w[k][y[x]]
            if r < s:
                z = x
                break
            e[y[x]] = 0.0
        if z is None:
            return o, rng.choice(len(e), p=e / e.sum())
        o.append(z)
        k = z
