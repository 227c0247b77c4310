class Stepper:
    def __init__(self):
        self.history = []

    def commit(self, guesses, scores):
        votes = scores.argmax(-1).tolist()
        good = 0
        for guess, vote in zip(guesses, votes):
            if guess == vote:
                good += 1
                continue
            break
        self.history += guesses[:good] + [votes[good]]
        return good
