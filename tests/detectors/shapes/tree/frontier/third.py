import numpy as np


def w4(x, p, y):
    z = np.zeros(len(x), dtype=bool)
    z[0] = True
    d = np.zeros(len(x), dtype=int)
    for i in range(1, len(x)):
        j = p[i]
        z[i] = z[j] and x[i] == y[j]
        d[i] = d[j] + 1 if z[i] else 0
    return int(d.argmax())
