import torch


def z7(w, kid, nxt, top):
    def more(c, m, n):
        return m

    def go(c, m, n):
        j = torch.while_loop(lambda e: (e >= 0) & (w[e] != top[c]), lambda e: nxt[e], (kid[c],))
        m = j >= 0
        return torch.where(m, j, c), m, n + m.long()

    c0, _, n0 = torch.while_loop(more, go, (torch.tensor(0), torch.tensor(True), torch.tensor(0)))
    return c0, n0, top[c0]
