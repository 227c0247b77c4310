"""Commit of the gated delta rule: the state behind the accepted path, recomputed from what its tokens brought."""
