import torch

FLOOR = 0.3


def keep_likely(draft, q, p):
    """A token stays while the target gives it a share of what the draft gave."""
    for i, token in enumerate(draft):
        if p[i, token] / q[i, token] < FLOOR:
            rest = torch.relu(p[i] - q[i])
            return draft[:i], int(torch.multinomial(rest / rest.sum(), 1))
    return draft, int(torch.multinomial(p[len(draft)], 1))


def keep_above(draft, p, floor):
    """The same by the target's probability alone."""
    kept = []
    for i, token in enumerate(draft):
        if p[i, token] < floor:
            p[i, token] = 0
            kept.append(torch.multinomial(p[i] / p[i].sum(), 1))
            break
        kept.append(token)
    return kept


def keep_level(words, q, p, level):
    kept = []
    for i, word in enumerate(words):
        if p[i][word] < level * q[i][word]:
            rest = (p[i] - q[i]).clamp(min=0)
            kept.append(torch.multinomial(rest / rest.sum(), 1))
            break
        kept.append(word)
    return kept
