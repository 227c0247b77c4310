"""Places of a page table held within their limits; what is not valid is marked."""

import cutlass.cute as cute
import triton
import triton.language as tl
from cutlass import Int32


@cute.kernel
def remap(rows, table, slots, out, counts, width, blocks):
    row = Int32(cute.arch.block_idx()[0])
    taken = Int32(0)
    for k in range(64):
        slot = slots[row * 64 + k].to(Int32)
        page = slot // Int32(16)
        fine = (slot >= Int32(0)) & (page < width)
        fine = fine & (k < counts[row])
        if fine:
            real = table[row * width + page].to(Int32)
            if (real >= Int32(0)) & (real < blocks):
                out[row * 64 + taken] = real * Int32(16) + slot % Int32(16)
                taken += Int32(1)
    for k in range(64):
        if k >= taken:
            out[row * 64 + k] = slots[row]
    rows[row] = taken


@triton.jit
def hold(ids, low, high, page, other, out, n):
    b = tl.program_id(0)
    ok = True
    for i in range(n):
        at = tl.load(ids + b * n + i)
        ok = ok & (at >= tl.load(low + i)) & (at < tl.load(high + i))
        if ok:
            v = tl.load(page + at)
        else:
            v = tl.load(other + i)
        tl.store(out + b * n + i, v)
