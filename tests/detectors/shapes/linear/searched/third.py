import itertools
import operator


def y0(a, b):
    m = list(itertools.accumulate((u == v for u, v in zip(a, b)), operator.and_))
    k = sum(m)
    return a[:k] + [b[k]]
