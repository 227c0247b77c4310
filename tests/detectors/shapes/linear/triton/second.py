import triton
import triton.language as tl


@triton.jit
def _head(length, extra, guess, vote, K: tl.constexpr, PAD: tl.constexpr):
    row = tl.program_id(0)
    lane = tl.arange(0, PAD)
    inside = lane < K
    g = tl.load(guess + row * K + lane, mask=inside, other=0)
    v = tl.load(vote + row * (K + 1) + lane, mask=inside, other=0)
    wrong = (g != v) & inside
    first = tl.min(tl.where(wrong, lane, K), axis=0)
    tl.store(length + row, first)
    tl.store(extra + row, tl.load(vote + row * (K + 1) + first))
