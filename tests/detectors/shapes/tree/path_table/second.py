import numpy as np


def pick_branch(flat_ids, retrieve_rows, greedy_ids):
    """Rows of indices into the flattened tree, padded with -1."""
    safe = np.maximum(retrieve_rows, 0)
    drafted = flat_ids[safe][:, 1:]
    wanted = greedy_ids[safe][:, :-1]
    same = (drafted == wanted) & (retrieve_rows[:, 1:] >= 0)
    runs = np.cumprod(same.astype(np.int64), axis=1).sum(axis=1)
    winner = int(np.argmax(runs))
    return winner, int(runs[winner]), flat_ids[retrieve_rows[winner, : runs[winner] + 1]]
