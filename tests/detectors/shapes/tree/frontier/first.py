import torch


def accept_levels(tokens, parents, target, depths, max_depth):
    match = tokens == torch.gather(target, 1, parents)
    match[:, 0] = True
    valid = match.clone()
    for _ in range(max_depth):
        valid = match & torch.gather(valid, 1, parents)
    best_depth, best_node = torch.where(valid, depths, -1).max(dim=1)
    return best_node, best_depth
