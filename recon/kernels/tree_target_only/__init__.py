"""Stochastic acceptance of a draft tree by the target's probabilities alone: from logits to accepted path."""
