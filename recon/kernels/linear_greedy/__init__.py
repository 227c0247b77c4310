"""Greedy acceptance of a draft chain: from logits to accepted tokens, in one launch."""
