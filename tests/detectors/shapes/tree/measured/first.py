from itertools import takewhile


def agreed(path, tokens, greedy):
    pairs = zip(path, path[1:])
    return sum(1 for _ in takewhile(lambda pair: tokens[pair[1]] == greedy[pair[0]], pairs))


def longest(paths, tokens, greedy):
    ranked = sorted(paths, key=lambda path: agreed(path, tokens, greedy), reverse=True)
    winner = ranked[0]
    keep = agreed(winner, tokens, greedy)
    return winner[: keep + 1], greedy[winner[keep]]
