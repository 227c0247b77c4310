import numpy as np


def survivors(ids, votes, above, lineage):
    """`lineage[i, j]` tells whether j lies on the path from the root to i."""
    agree = ids == votes[above]
    agree[0] = True
    whole = np.all(agree[None, :] | ~lineage, axis=1)
    leaf = np.argmax(np.where(whole, lineage.sum(axis=1), 0))
    return np.flatnonzero(lineage[leaf])
