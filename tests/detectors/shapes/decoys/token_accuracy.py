import torch


def acceptance_estimate(draft_logits, target_logits, mask):
    same = draft_logits.argmax(-1) == target_logits.argmax(-1)
    return (same * mask).sum() / mask.sum()
