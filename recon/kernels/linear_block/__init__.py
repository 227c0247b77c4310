"""Stochastic acceptance of a draft chain as one block: from logits to tokens."""
