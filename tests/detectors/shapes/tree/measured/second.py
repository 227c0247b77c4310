def span(branch, words, wish):
    n = 0
    for above, leaf in zip(branch, branch[1:]):
        if words[leaf] != wish[above]:
            break
        n += 1
    return n


def pick(branches, words, wish):
    return max(branches, key=lambda branch: span(branch, words, wish))
