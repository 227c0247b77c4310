import triton
import triton.language as tl


@triton.jit
def _paths_kernel(out_ptr, rows_ptr, ids_ptr, top_ptr, PATHS: tl.constexpr, DEPTH: tl.constexpr):
    winner = 0
    record = -1
    for p in range(PATHS):
        run = 0
        ok = 1
        before = tl.load(rows_ptr + p * DEPTH)
        for d in range(1, DEPTH):
            here = tl.load(rows_ptr + p * DEPTH + d)
            guess = tl.load(ids_ptr + here, mask=here >= 0, other=-2)
            ok = ok & (guess == tl.load(top_ptr + before)).to(tl.int32)
            run += ok
            before = tl.where(here >= 0, here, before)
        if run > record:
            record = run
            winner = p
    tl.store(out_ptr, winner)
    tl.store(out_ptr + 1, record)
