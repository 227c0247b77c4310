import numpy as np


def settle(guess, vote):
    wrong = np.flatnonzero(guess != vote[: len(guess)])
    stop = int(wrong[0]) if wrong.size else len(guess)
    return vote[: stop + 1].tolist()
