import triton
import triton.language as tl


@triton.jit
def father_kernel(kept_ptr, len_ptr, word_ptr, father_ptr, vote_ptr, COUNT: tl.constexpr):
    pid = tl.program_id(0)
    at = 0
    steps = 0
    for node in range(1, COUNT):
        up = tl.load(father_ptr + pid * COUNT + node)
        word = tl.load(word_ptr + pid * COUNT + node)
        vote = tl.load(vote_ptr + pid * COUNT + at)
        good = (up == at) & (word == vote)
        steps += good.to(tl.int32)
        tl.store(kept_ptr + pid * COUNT + steps, node, mask=good)
        at = tl.where(good, node, at)
    tl.store(len_ptr + pid, steps)
