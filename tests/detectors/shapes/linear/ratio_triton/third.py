import triton as tr
import triton.language as tw


@tr.jit
def e2(o, x, y, z, w, s, N: tw.constexpr, M: tw.constexpr, L: tw.constexpr):
    h = tw.program_id(0)
    j = tw.arange(0, L)
    m = j < N
    t = tw.load(x + h * N + j, mask=m, other=0)
    c = tw.log(tw.load(y + (h * N + j) * M + t, mask=m, other=1.0))
    d = tw.log(tw.load(z + (h * N + j) * M + t, mask=m, other=1.0))
    u = tw.log(tw.load(w + h * N + j, mask=m, other=0.5))
    f = tw.min(tw.where((u > c - d) & m, j, N), axis=0)
    tw.store(o + h, f)
    i = tw.arange(0, M)
    g = tw.load(y + (h * N + f) * M + i) - tw.load(z + (h * N + f) * M + i)
    tw.store(s + h, tw.argmax(tw.maximum(g, 0.0), axis=0))
