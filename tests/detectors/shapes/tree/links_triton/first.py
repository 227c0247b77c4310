import triton
import triton.language as tl


@triton.jit
def greedy_tree_kernel(
    predicts_ptr, accept_index_ptr, accept_len_ptr, cand_ptr, child_ptr, sibling_ptr, target_ptr, num_nodes, num_spec
):
    req = tl.program_id(0)
    base = req * num_nodes
    last = 0
    count = 0
    cur = tl.load(child_ptr + base)
    while cur != -1:
        token = tl.load(cand_ptr + base + cur)
        want = tl.load(target_ptr + base + last)
        if token == want:
            tl.store(predicts_ptr + base + last, token)
            count += 1
            tl.store(accept_index_ptr + req * num_spec + count, base + cur)
            last = cur
            cur = tl.load(child_ptr + base + cur)
        else:
            cur = tl.load(sibling_ptr + base + cur)
    tl.store(predicts_ptr + base + last, tl.load(target_ptr + base + last))
    tl.store(accept_len_ptr + req, count)
