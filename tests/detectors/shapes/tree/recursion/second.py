class Judge:
    def __init__(self, kids, words, votes):
        self.kids = kids
        self.words = words
        self.votes = votes
        self.trail = []

    def descend(self, spot=0):
        wish = self.votes[spot]
        for kid in self.kids[spot]:
            if self.words[kid] != wish:
                continue
            self.trail.append(kid)
            self.descend(kid)
            return
