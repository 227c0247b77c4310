import triton as tt
import triton.language as ll


@tt.jit
def q(a0, a1, a2, a3, M: ll.constexpr):
    e = ll.program_id(0) * M
    x = 0
    r = 0
    stop = False
    for _k in range(M):
        if not stop:
            c = ll.load(a0 + (e + x) * 4 + 1)
            miss = True
            for _l in range(M):
                if miss and c > 0:
                    if ll.load(a0 + (e + c) * 4) == ll.load(a1 + e + x):
                        miss = False
                    else:
                        c = ll.load(a0 + (e + c) * 4 + 2)
            if miss:
                stop = True
            else:
                x = c
                r += 1
                ll.store(a2 + e + r, c)
    ll.store(a3 + ll.program_id(0), r)
