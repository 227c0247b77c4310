import triton
import triton.language as tl


@triton.jit
def occluded(out, hit_link, miss_link, shape, ray, lo, N: tl.constexpr):
    pid = tl.program_id(0)
    origin = tl.load(ray + pid)
    node = 0
    found = 0
    while node != -1:
        if origin > tl.load(lo + node):
            found += (tl.load(shape + node) >= 0).to(tl.int32)
            node = tl.load(hit_link + node)
        else:
            node = tl.load(miss_link + node)
    tl.store(out + pid, found)
