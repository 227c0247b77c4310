"""Causal convolution of a draft tree: each node's window is its ancestors, and what was before the root."""
