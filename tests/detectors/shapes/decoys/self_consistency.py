def agreement(samples, reference):
    agree = (samples == reference.unsqueeze(0)).long().cumprod(-1).sum(-1)
    best = int(agree.argmax())
    return samples[best, : agree[best]]


def hypothesis(hyps, ref):
    shared = (hyps == ref[None, 1:]).long().cumprod(-1).sum(-1)
    best = shared.argmax()
    return hyps[best], shared[best]


def widened(drafts, gold):
    row = gold.view(1, -1)
    shared = (row.expand_as(drafts) == drafts).long().cumprod(-1).sum(-1)
    best = shared.argmax()
    return drafts[best], shared[best]
