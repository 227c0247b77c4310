from functools import reduce


def survivors(words, fathers, wish, order):
    def judge(good, leaf):
        father = fathers[leaf]
        return good | {leaf} if father in good and words[leaf] == wish[father] else good

    good = reduce(judge, order, {0})
    return max(good)
