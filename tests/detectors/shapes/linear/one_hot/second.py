import numpy as np


class LookupVerifier:
    def run(self, guesses, probs, rng):
        kept = []
        for position, token in enumerate(guesses):
            certain = np.zeros_like(probs[position])
            certain[token] = 1.0
            if rng.random() * certain[token] > probs[position][token]:
                rest = np.maximum(probs[position] - certain, 0.0)
                kept.append(rng.choice(len(rest), p=rest / rest.sum()))
                return kept
            kept.append(token)
        kept.append(rng.choice(probs.shape[1], p=probs[-1]))
        return kept
