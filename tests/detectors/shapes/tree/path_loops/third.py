import itertools


def u(z, y, x):
    w = []
    for v in z:
        e = itertools.takewhile(lambda n: x[v[n]] == y[v[n - 1]], range(1, len(v)))
        w.append(sum(1 for _ in e))
    k = w.index(max(w))
    return z[k][: w[k] + 1]
