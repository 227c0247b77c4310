import torch


def d1(x, a, b, u):
    r = a[:-1].gather(-1, x[:, None])[:, 0] / b.gather(-1, x[:, None])[:, 0]
    c = torch.ones(())
    y = []
    for j in range(len(x)):
        c = (c * r[j]).clamp(max=1)
        y.append(c)
    y = torch.stack(y)
    s = (y[:-1, None] * a[1:-1] - b[1:]).relu().sum(-1)
    z = torch.cat([s / (s + 1 - y[:-1]), y[-1:]])
    k = (u <= z).nonzero()
    return int(k.max()) + 1 if len(k) else 0
