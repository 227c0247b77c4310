import numpy as np


class Filter:
    def __init__(self, generator):
        self.generator = generator

    def trial(self, words, goal, guess):
        rows = np.arange(len(words))
        dice = self.generator.random(len(words))
        stands = dice * guess[rows, words] < goal[rows, words]
        length = int(np.cumprod(stands).sum())
        if length < len(words):
            rest = np.maximum(goal[length] - guess[length], 0)
            word = self.generator.choice(rest.size, p=rest / rest.sum())
        else:
            word = self.generator.choice(goal.shape[1], p=goal[-1])
        return [*words[:length], word]
