import random

import torch


def a1(x, e, k):
    z = e[0].softmax(-1)
    o = [x[0, 0]]
    s = 1
    for j in range(1, x.shape[1]):
        m = (x[:, :s] == torch.stack(o)).all(1)
        d, f = False, set()
        for i in range(x.shape[0]):
            if not m[i] or x[i, j].item() in f:
                continue
            v = x[i, j].item()
            f.add(v)
            if random.random() <= z[v]:
                o.append(x[i, j])
                s += 1
                d = True
                z = e[k[i, j]].softmax(-1)
                break
            z[v] = 0
            z = z / z.sum()
        if not d:
            break
    return o, torch.multinomial(z, 1)
