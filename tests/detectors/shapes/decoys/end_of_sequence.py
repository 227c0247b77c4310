import torch


def until_end(ids, end_ids, pad):
    ended = (ids == end_ids[:, None]).cumsum(dim=1) > 0
    lengths = (~ended).sum(dim=1)
    return torch.where(ended, pad, ids), lengths
