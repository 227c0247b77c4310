import numpy as np


class Lookup:
    def confirm(self, buffer, guesses, votes):
        wrongs = np.cumsum(guesses != votes[:-1])
        good = int(np.count_nonzero(wrongs == 0))
        buffer[: good + 1] = votes[: good + 1]
        return good
