def shared(prompt, other):
    n = 0
    for one, its in zip(prompt, other):
        if one != its:
            break
        n += 1
    return n


def donor(prompt, cached):
    return max(cached, key=lambda other: shared(prompt, other))


def accepted(draft, target):
    n = 0
    for guess, said in zip(draft, target):
        if guess != said:
            break
        n += 1
    return n


def settle(drafts, targets):
    counts = [accepted(draft, target) for draft, target in zip(drafts, targets)]
    width = max(counts) + 1
    return [target[: n + 1] + [-1] * (width - n - 1) for target, n in zip(targets, counts)]
