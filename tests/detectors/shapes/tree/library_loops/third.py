import torch


def z7(w, kid, aside, top):
    def more(e0, m, m0):
        return m

    def go(e0, m, m0):
        j = torch.while_loop(lambda e: (e >= 0) & (w[e] != top[e0]), lambda e: aside[e], (kid[e0],))
        m = j >= 0
        return torch.where(m, j, e0), m, m0 + m.long()

    c0, _, n0 = torch.while_loop(more, go, (torch.tensor(0), torch.tensor(True), torch.tensor(0)))
    return c0, n0, top[c0]
