"""Stochastic acceptance of a draft tree in rounds, a residual after each rejection: from logits to accepted path."""
