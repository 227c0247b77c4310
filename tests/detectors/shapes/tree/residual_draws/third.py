import numpy as np


def n4(kids, x, a, b, rng):
    w = a.copy()
    for k in kids:
        t = x[k]
        if rng.random() * b[t] > w[t]:
            w = np.maximum(w - b, 0)
            w /= w.sum()
            continue
        return k, t
    return -1, rng.choice(len(w), p=w)
