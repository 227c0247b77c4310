import torch


def l3(x, e):
    k = torch.cumsum((x - e[..., :-1]).ne(0), -1).eq(0).sum(-1, keepdim=True)
    return torch.cat([x, x[..., :1]], -1).scatter(-1, k, e.gather(-1, k)), k
