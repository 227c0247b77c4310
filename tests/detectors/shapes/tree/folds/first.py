from functools import reduce


def verdicts(tokens, parents, greedy):
    def grow(lengths, node):
        above = parents[node]
        if lengths[above] and tokens[node] == greedy[above]:
            return {**lengths, node: lengths[above] + 1}
        return {**lengths, node: 0}

    lengths = reduce(grow, range(1, len(tokens)), {0: 1})
    tip = max(lengths, key=lengths.get)
    return tip, lengths[tip]
