"""Attention of draft nodes over a paged cache of keys and values."""
