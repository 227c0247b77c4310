"""Stochastic acceptance of a draft chain, with the drafter's probabilities or without: from logits to tokens."""
