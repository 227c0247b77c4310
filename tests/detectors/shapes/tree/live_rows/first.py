import torch


def greedy_levels(logits, candidates):
    accept_len = 1
    prefix = candidates[0][:1]
    best = 0
    for i in range(1, candidates.shape[1]):
        is_eq = (candidates[:, :accept_len] == prefix).all(dim=1)
        row = torch.nonzero(is_eq, as_tuple=True)[0][0]
        wanted = logits[row, i - 1].argmax()
        follows = is_eq & (candidates[:, i] == wanted)
        if not follows.any():
            break
        best = torch.nonzero(follows, as_tuple=True)[0][0]
        prefix = candidates[best][: accept_len + 1]
        accept_len += 1
    return best, accept_len
