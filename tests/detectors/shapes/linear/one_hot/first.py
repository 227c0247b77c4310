"""n-gram drafts: q is one at the drafted token."""

import torch
import torch.nn.functional as F


def accept_ngram(draft, target_logits, gen):
    p = target_logits.softmax(-1)
    q = F.one_hot(draft, p.shape[-1]).to(p.dtype)
    u = torch.rand(draft.shape, generator=gen, device=p.device)
    at = draft.unsqueeze(-1)
    ratio = p[:-1].gather(-1, at).squeeze(-1) / q.gather(-1, at).squeeze(-1)
    n = int((u < ratio).long().cumprod(0).sum())
    if n == draft.numel():
        return n, torch.multinomial(p[-1], 1)
    left = (p[n] - q[n]).clamp_min(0)
    return n, torch.multinomial(left / left.sum(), 1)
