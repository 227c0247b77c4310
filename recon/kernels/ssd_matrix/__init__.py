"""Verify a draft tree through Mamba-2 in matrix form: outputs of all nodes, and no state kept."""
