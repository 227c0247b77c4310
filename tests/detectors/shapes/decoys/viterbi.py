import torch


def viterbi(emit, trans, lens):
    B, T, S = emit.shape
    score = emit[:, 0]
    back = []
    for t in range(1, T):
        cand = score[:, :, None] + trans[None]
        score, arg = cand.max(dim=1)
        score = score + emit[:, t]
        back.append(arg)
    last = score.argmax(1)
    path = [last]
    for arg in reversed(back):
        last = arg.gather(1, last[:, None])[:, 0]
        path.append(last)
    return torch.stack(path[::-1], 1)
