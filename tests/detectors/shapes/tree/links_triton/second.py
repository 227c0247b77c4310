import triton
import triton.language as tl


@triton.jit
def _walk(out, lens, ids, down, right, best, DEPTH: tl.constexpr, WIDTH: tl.constexpr, stride):
    row = tl.program_id(axis=0)
    ids += row * stride
    down += row * stride
    right += row * stride
    best += row * stride
    at = tl.zeros((), tl.int32)
    alive = tl.full((), 1, tl.int32)
    n = tl.zeros((), tl.int32)
    for level in range(DEPTH):
        kid = tl.load(down + at)
        goal = tl.load(best + at)
        found = tl.zeros((), tl.int32)
        chosen = at
        for _ in range(WIDTH):
            valid = (kid >= 0) & (alive == 1)
            value = tl.load(ids + kid, mask=valid, other=-1)
            hit = valid & (value == goal) & (found == 0)
            chosen = tl.where(hit, kid, chosen)
            found = tl.where(hit, 1, found)
            kid = tl.load(right + kid, mask=valid & (found == 0), other=-1)
        alive = alive * found
        tl.store(out + row * DEPTH + level, chosen, mask=alive == 1)
        n += alive
        at = tl.where(alive == 1, chosen, at)
    tl.store(lens + row, n)
