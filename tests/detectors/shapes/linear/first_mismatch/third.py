import torch


def p6(x, y):
    e = torch.arange(x.shape[1])
    z = torch.where(x.eq(y[:, :-1]), x.shape[1], e).amin(1)
    w = torch.take_along_dim(y, z[:, None], 1)
    return torch.where(e < z[:, None], x, w), z
