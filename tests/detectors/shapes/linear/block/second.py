import numpy as np


class Whole:
    def settle(self, words, goal, guess, dice):
        weights = [1.0]
        for spot, word in enumerate(words):
            weights.append(min(weights[-1] * goal[spot][word] / guess[spot][word], 1.0))
        for length in range(len(words), 0, -1):
            weight = weights[length]
            rest = np.maximum(weight * goal[length] - guess[length], 0.0).sum()
            if dice[length - 1] < rest / (rest + 1.0 - weight):
                return length
        return 0
