import numpy as np


class Sampler:
    def __init__(self, generator):
        self.generator = generator

    def trial(self, candidates, wanted, proposed, kids):
        spot = 0
        words = []
        going = True
        while going:
            going = False
            goal, guess = wanted[spot], proposed[spot]
            for kid in kids[spot]:
                word = candidates[kid]
                if self.generator.random() * guess[word] <= goal[word]:
                    words.append(word)
                    spot = kid
                    going = True
                    break
                goal = np.maximum(goal - guess, 0)
                goal /= goal.sum()
                guess[word] = 0
                guess /= guess.sum()
        words.append(self.generator.choice(len(goal), p=goal))
        return words
