import triton
import triton.language as tl


@triton.jit
def move_accepted(dst, src, accept_index, accept_len, STRIDE: tl.constexpr):
    pid = tl.program_id(0)
    count = tl.load(accept_len + pid)
    for i in range(count):
        node = tl.load(accept_index + pid * STRIDE + i)
        value = tl.load(src + pid * STRIDE + node)
        tl.store(dst + pid * STRIDE + i, value)
