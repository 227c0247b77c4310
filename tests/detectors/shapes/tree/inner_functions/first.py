"""SpecInfer-like, nested function and max with a key."""


def longest_verified(paths, draft_ids, oracle):
    def depth(path):
        n = 0
        while n + 1 < len(path) and draft_ids[path[n + 1]] == oracle[path[n]]:
            n += 1
        return n

    winner = max(paths, key=depth)
    kept = depth(winner)
    return [draft_ids[i] for i in winner[1 : kept + 1]] + [oracle[winner[kept]]]
