class PointerDoubling:
    def deepest(self, words, above, votes, levels):
        stands = words.eq(votes[above])
        stands[0] = True
        jump = above
        hops = 1
        while hops < int(levels.max()):
            stands = stands & stands[jump]
            jump = jump[jump]
            hops *= 2
        return (levels * stands).argmax()
