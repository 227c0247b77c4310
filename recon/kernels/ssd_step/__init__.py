"""Verify drafts through Mamba-2 token by token, as engines do; states are kept for none, the last or every node."""
