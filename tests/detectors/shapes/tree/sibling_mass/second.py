import triton
import triton.language as tl


@triton.jit
def _mass_walk(out_ptr, n_ptr, id_ptr, down_ptr, right_ptr, p_ptr, q_ptr, u_ptr, NODES: tl.constexpr, VOCAB, BLOCK: tl.constexpr):
    at = 0
    row = 0
    n = 0
    u = tl.load(u_ptr)
    going = 1
    for _ in range(NODES):
        if going:
            mass = 0.0
            hit = 0
            at = tl.load(down_ptr + at)
            for _ in range(NODES):
                if hit == 0 and at >= 0:
                    word = tl.load(id_ptr + at)
                    mass += tl.load(p_ptr + row * VOCAB + word)
                    if u < mass:
                        hit = 1
                        n += 1
                        tl.store(out_ptr + n, word)
                        u = tl.load(u_ptr + at)
                        row = at
                    else:
                        tl.store(q_ptr + row * VOCAB + word, tl.load(p_ptr + row * VOCAB + word))
                        at = tl.load(right_ptr + at)
            going = hit
    tl.store(n_ptr, n)
    total = 0.0
    for start in range(0, VOCAB, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        left = tl.load(p_ptr + row * VOCAB + cols, mask=cols < VOCAB, other=0.0)
        taken = tl.load(q_ptr + row * VOCAB + cols, mask=cols < VOCAB, other=0.0)
        total += tl.sum(tl.maximum(left - taken, 0.0))
    tl.store(out_ptr + n + 1, total.to(tl.int32))
