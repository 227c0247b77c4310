import numpy as np


class Checker:
    def apply(self, guesses, votes, sink):
        agree = np.equal(guesses, votes[:, : guesses.shape[1]])
        run = np.logical_and.accumulate(agree, axis=1)
        length = run.sum(axis=1)
        for row, stop in enumerate(length):
            sink[row].extend(guesses[row, :stop].tolist())
            sink[row].append(int(votes[row, stop]))
        return length
