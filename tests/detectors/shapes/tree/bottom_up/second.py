import numpy as np


class Climber:
    def settle(self, nodes, goal, guess, dice):
        """Nodes in depth-first order from the last leaf; each has `up`, `word`, `weight`."""
        for twig in reversed(nodes):
            up = twig.up
            twig.weight = min(1.0, nodes[up].weight * goal[up][twig.word] / guess[up][twig.word])
            if dice[twig.index] <= twig.weight:
                return twig.index
            rest = np.maximum(nodes[up].weight * goal[up] - guess[up], 0.0)
            goal[up] = rest / rest.sum()
            guess[up][twig.word] = 0.0
            guess[up] = guess[up] / guess[up].sum()
        return 0
