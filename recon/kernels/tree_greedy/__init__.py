"""Greedy acceptance of a draft tree: from logits to accepted path, in one launch."""
