class TrieNode:
    def __init__(self, index):
        self.index = index
        self.branches = {}

    def advance(self, sampled):
        """Nodes below this one that the model agrees with."""
        here = self
        good = []
        while True:
            following = here.branches.get(int(sampled[here.index]))
            if following is None:
                break
            good.append(following.index)
            here = following
        return good
