import torch


def build(scores, tokens, parents, total):
    best = torch.topk(scores.flatten(), total).indices.sort().values
    child = torch.full((total,), -1)
    sibling = torch.full((total,), -1)
    for node in range(total - 1, -1, -1):
        up = int(torch.searchsorted(best, parents[best[node]]))
        sibling[node] = child[up]
        child[up] = node
    return tokens.flatten()[best], child, sibling
