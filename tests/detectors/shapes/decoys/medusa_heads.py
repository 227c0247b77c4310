import torch


def propose(hidden, heads, choices, width):
    top = torch.stack([head(hidden).topk(width, dim=-1).indices for head in heads])
    flat = torch.cat([top[0, :1], top.flatten()])
    candidates = flat[choices]
    return candidates, candidates[:, 1:].unique()
