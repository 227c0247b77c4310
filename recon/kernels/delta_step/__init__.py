"""Verify drafts through the gated delta rule token by token, as engines do; states are kept for none, one or all."""
