class PackedVerifier:
    """Nodes lie in one flat list: token, left-most child, right neighbour, three integers a node."""

    WIDTH = 3

    def run(self, blob, argmaxes):
        here, kept = 0, []
        while True:
            probe = blob[self.WIDTH * here + 1]
            while probe >= 0 and blob[self.WIDTH * probe] != argmaxes[here]:
                probe = blob[self.WIDTH * probe + 2]
            if probe < 0:
                return kept, argmaxes[here]
            kept.append(blob[self.WIDTH * probe])
            here = probe
