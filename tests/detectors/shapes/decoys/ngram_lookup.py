import numpy as np


def propose(tokens, smallest, largest, k):
    for n in range(largest, smallest - 1, -1):
        pattern = tokens[-n:]
        windows = np.lib.stride_tricks.sliding_window_view(tokens[:-1], n)
        hits = np.flatnonzero((windows == pattern).all(axis=1))
        if hits.size:
            start = hits[0] + n
            return tokens[start : start + k]
    return None
