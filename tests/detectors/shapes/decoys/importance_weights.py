import torch


def loss(logits, old_logits, ids, advantages, eps):
    new = logits.log_softmax(-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    old = old_logits.log_softmax(-1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    ratio = (new - old).exp()
    clipped = ratio.clamp(1 - eps, 1 + eps)
    return -torch.minimum(ratio * advantages, clipped * advantages).mean()
