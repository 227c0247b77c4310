"""Verify a draft tree through the gated delta rule in matrix form: outputs of all nodes, and no state kept."""
