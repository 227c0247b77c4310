def choose(prompt, cached):
    best, which = 0, None
    for i, c in enumerate(cached):
        n = 0
        while n < len(c) and c[n] == prompt[n]:
            n += 1
        if n > best:
            best = n
            which = i
    return which, best


def choose_by_key(prompt, cached):
    def shared(c):
        n = 0
        while n < min(len(c), len(prompt)) and c[n] == prompt[n]:
            n += 1
        return n

    return max(cached, key=shared)


def longest_match(history, ids, k):
    """n-gram lookup: where in the history does the longest suffix of ids stand."""
    best, at = 0, -1
    for start in range(len(history)):
        n = 0
        while n < k and history[start - n] == ids[len(ids) - 1 - n]:
            n += 1
        if n > best:
            best, at = n, start
    return at, best
