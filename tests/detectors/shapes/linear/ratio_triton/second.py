import triton
import triton.language as tl


@triton.jit
def _fused(made, length, guess, p, q, dice, K, V, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    stop = 0
    going = True
    while going and stop < K:
        word = tl.load(guess + row * K + stop)
        goal = tl.load(p + (row * (K + 1) + stop) * V + word)
        odds = tl.load(q + (row * K + stop) * V + word)
        die = tl.load(dice + row * K + stop)
        going = die * odds < goal
        if going:
            tl.store(made + row * (K + 1) + stop, word)
            stop += 1
    best = 0.0
    pick = 0
    for lo in range(0, V, BLOCK):
        cols = lo + tl.arange(0, BLOCK)
        a = tl.load(p + (row * (K + 1) + stop) * V + cols, mask=cols < V, other=0.0)
        b = tl.load(q + (row * K + stop) * V + cols, mask=(cols < V) & (stop < K), other=0.0)
        rest = tl.where(a > b, a - b, 0.0)
        top = tl.max(rest, axis=0)
        pick = tl.where(top > best, lo + tl.argmax(rest, axis=0), pick)
        best = tl.maximum(top, best)
    tl.store(made + row * (K + 1) + stop, pick)
    tl.store(length + row, stop)
