from itertools import takewhile


class W:
    def q2(self, a, z):
        b = z.max(-1).indices.tolist()
        same = lambda i: a[i] == b[i]
        m = len(list(takewhile(same, range(len(a)))))
        return b[: m + 1]
