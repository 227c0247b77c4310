import torch


def sample(logits, top_p):
    probs, order = logits.softmax(-1).sort(dim=-1, descending=True)
    before = probs.cumsum(-1) - probs
    probs = probs.masked_fill(before > top_p[:, None], 0)
    probs = probs / probs.sum(-1, keepdim=True)
    return order.gather(-1, torch.multinomial(probs, 1))
