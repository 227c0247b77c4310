import random


def e8(k, c, x, a, b, w):
    def z(i, m):
        while c[i]:
            j = c[i].pop(0)
            y = x[j]
            h = min(1.0, m * a[i][y] / b[i][y])
            d = z(j, h)
            if d is not None:
                return d
            s = [max(m * u - v, 0.0) for u, v in zip(a[i], b[i])]
            a[i] = [u / sum(s) for u in s]
            b[i][y] = 0.0
        return i if random.random() < m else None

    return z(k, w)
