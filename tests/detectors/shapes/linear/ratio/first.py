import torch


def speculative_sampling(draft_tokens, draft_probs, target_probs):
    n, k = 0, draft_tokens.shape[0]
    for i in range(k):
        token = draft_tokens[i]
        r = torch.rand(1)
        if r < target_probs[i, token] / draft_probs[i, token]:
            n += 1
        else:
            break
    if n < k:
        residual = torch.relu(target_probs[n] - draft_probs[n])
        next_token = torch.multinomial(residual / residual.sum(), 1)
    else:
        next_token = torch.multinomial(target_probs[k], 1)
    return torch.cat([draft_tokens[:n], next_token])
