import triton
import triton.language as tl


@triton.jit
def t(o, a, b, c, d, L: tl.constexpr):
    x = 0
    k = 0
    g = 1
    for _ in range(L):
        if g == 1:
            e = tl.load(a + x)
            f = tl.load(a + x + 1)
            g = 0
            y = x
            for s in range(e, f):
                h = tl.load(b + s)
                if tl.load(c + h) == tl.load(d + x):
                    y = h
                    g = 1
            if g == 1:
                x = y
                k += 1
                tl.store(o + k, x)
    tl.store(o, k)
