"""Attention as torch offers it, on keys and values that lie dense."""
