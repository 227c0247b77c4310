class Loop:
    def turn(self, guesses, model):
        made = []
        spot = 0
        agreed = True
        while agreed and spot < len(guesses):
            vote = int(model.scores[spot].argmax())
            agreed = vote == guesses[spot]
            made.append(vote)
            spot += 1
        if agreed:
            made.append(int(model.scores[spot].argmax()))
        return made
