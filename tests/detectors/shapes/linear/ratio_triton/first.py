import triton
import triton.language as tl


@triton.jit
def rejection_random_sample_kernel(
    output_ptr, draft_token_ids_ptr, draft_probs_ptr, target_probs_ptr, bonus_ptr, recovered_ptr, uniform_ptr, max_len, vocab_size
):
    req_idx = tl.program_id(0)
    rejected = False
    for pos in range(max_len):
        if not rejected:
            draft_token_id = tl.load(draft_token_ids_ptr + req_idx * max_len + pos)
            draft_prob = tl.load(draft_probs_ptr + (req_idx * max_len + pos) * vocab_size + draft_token_id)
            target_prob = tl.load(target_probs_ptr + (req_idx * max_len + pos) * vocab_size + draft_token_id)
            uniform_prob = tl.load(uniform_ptr + req_idx * max_len + pos)
            if draft_prob > 0 and target_prob / draft_prob >= uniform_prob:
                token_id = draft_token_id
            else:
                rejected = True
                token_id = tl.load(recovered_ptr + req_idx * max_len + pos)
            tl.store(output_ptr + req_idx * (max_len + 1) + pos, token_id)
    if not rejected:
        tl.store(output_ptr + req_idx * (max_len + 1) + max_len, tl.load(bonus_ptr + req_idx))


@triton.jit
def sample_recovered_tokens_kernel(recovered_ptr, draft_probs_ptr, target_probs_ptr, q_ptr, vocab_size, PADDED: tl.constexpr):
    token = tl.program_id(0)
    offset = tl.arange(0, PADDED)
    draft_prob = tl.load(draft_probs_ptr + token * vocab_size + offset, mask=offset < vocab_size, other=0)
    target_prob = tl.load(target_probs_ptr + token * vocab_size + offset, mask=offset < vocab_size, other=0)
    prob = tl.maximum(target_prob - draft_prob, 0)
    noise = tl.load(q_ptr + token * vocab_size + offset, mask=offset < vocab_size, other=float("-inf"))
    tl.store(recovered_ptr + token, tl.argmax(prob / noise, axis=-1))
