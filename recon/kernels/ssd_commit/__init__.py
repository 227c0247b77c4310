"""Commit of Mamba-2: the state behind the accepted path, recomputed from what its tokens brought."""
