import torch


def verify_chain(draft_tokens, target_logits):
    target_tokens = target_logits.argmax(dim=-1)
    matches = (draft_tokens[:, 1:] == target_tokens[:, :-1]).to(torch.int32)
    accept_len = torch.cumprod(matches, dim=1).sum(dim=1)
    bonus = target_tokens.gather(1, accept_len.unsqueeze(1)).squeeze(1)
    return accept_len, bonus
