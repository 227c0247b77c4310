import triton
import triton.language as tl


@triton.jit
def e6(o, d, w, coin, m, V, B: tl.constexpr):
    r = tl.program_id(0)
    bad = False
    for i in range(m):
        if not bad:
            x = tl.load(d + r * m + i)
            y = tl.load(w + (r * m + i) * V + x)
            if y < tl.load(coin + r * m + i) * 1.0:
                bad = True
                c = tl.arange(0, B)
                h = tl.load(w + (r * m + i) * V + c, mask=c < V, other=0.0)
                x = tl.argmax(tl.maximum(h - tl.where(c == x, 1.0, 0.0), 0.0), axis=0)
            tl.store(o + r * m + i, x)
