from itertools import takewhile


def common_prefix(a, b):
    return sum(1 for _ in takewhile(lambda p: p[0] == p[1], zip(a, b)))


def lcs(a, b):
    m, n = len(a), len(b)
    t = [[0] * (n + 1) for _ in range(m + 1)]
    best = 0
    end = 0
    for i in range(m):
        for j in range(n):
            if a[i] == b[j]:
                t[i + 1][j + 1] = t[i][j] + 1
                if t[i + 1][j + 1] > best:
                    best = t[i + 1][j + 1]
                    end = i
    return a[end - best + 1 : end + 1]


def longest_shared(requests, cached):
    """Prefix cache: which cached prompt shares most with the request."""
    return max(cached, key=lambda c: common_prefix(c, requests))


def pick_worker(prompt, workers):
    best, which = 0, None
    for w in workers:
        n = 0
        for x, y in zip(w.tokens, prompt):
            if x != y:
                break
            n += 1
        if n > best:
            best, which = n, w
    return which
