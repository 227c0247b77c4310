import torch


def block_verify(draft_tokens, target_probs, draft_probs, eta):
    num = draft_tokens.shape[0]
    prob = 1.0
    accepted = 0
    for i in range(num):
        token = draft_tokens[i]
        prob = torch.clamp(prob * target_probs[i, token] / draft_probs[i, token], max=1.0)
        if i + 1 < num:
            mass = torch.clamp(prob * target_probs[i + 1] - draft_probs[i + 1], min=0).sum()
            h = mass / (mass + 1 - prob)
        else:
            h = prob
        if eta[i] <= h:
            accepted = i + 1
    return accepted
