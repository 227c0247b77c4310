import numpy as np


class UpwardReader:
    def deepest(self, drafted, above, chosen):
        fits = drafted == chosen[above]
        fits[0] = True
        spans = np.zeros(len(drafted), dtype=np.int64)
        for leaf in range(1, len(drafted)):
            node, steps = leaf, 0
            while node != 0 and fits[node]:
                node = above[node]
                steps += 1
            spans[leaf] = steps if node == 0 else -1
        return int(spans.argmax()), int(spans.max())
