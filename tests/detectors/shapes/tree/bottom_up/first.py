import torch


def traversal_verification(tokens, parents, target_probs, draft_probs, leaves):
    order = list(leaves)
    accept_prob = [1.0] * len(tokens)
    for node in range(1, len(tokens)):
        parent = parents[node]
        ratio = target_probs[parent, tokens[node]] / draft_probs[parent, tokens[node]]
        accept_prob[node] = min(accept_prob[parent] * ratio, 1.0)
    while order:
        leaf = order.pop(0)
        if torch.rand(()) < accept_prob[leaf]:
            return leaf
        parent = parents[leaf]
        residual = (accept_prob[parent] * target_probs[parent] - draft_probs[parent]).clamp(min=0)
        target_probs[parent] = residual / residual.sum()
        draft_probs[parent, tokens[leaf]] = 0
        draft_probs[parent] /= draft_probs[parent].sum()
        if parent not in parents[leaf + 1 :]:
            order.insert(0, parent)
    return 0
