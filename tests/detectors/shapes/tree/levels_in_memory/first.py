import triton
import triton.language as tl


@triton.jit
def agree_by_level(ids, pred, up, level, ok, best, size, n, DEPTH: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    lane = tl.arange(0, BLOCK)
    valid = lane < n
    parent = tl.load(up + r * n + lane, mask=valid, other=0)
    depth = tl.load(level + r * n + lane, mask=valid, other=-1)
    same = tl.load(ids + r * n + lane, mask=valid, other=-1) == tl.load(pred + r * n + parent, mask=valid, other=-2)
    tl.store(ok + r * n + lane, (depth == 0).to(tl.int32), mask=valid)
    for d in range(1, DEPTH):
        tl.debug_barrier()
        before = tl.load(ok + r * n + parent, mask=valid & (depth == d), other=0)
        tl.store(ok + r * n + lane, ((before != 0) & same).to(tl.int32), mask=valid & (depth == d))
    tl.debug_barrier()
    reach = tl.where(tl.load(ok + r * n + lane, mask=valid, other=0) != 0, depth, -1)
    tl.store(best + r, tl.argmax(reach, axis=0))
    tl.store(size + r, tl.max(reach, axis=0))
