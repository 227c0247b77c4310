"""Saved runs and the blob store: where recon keeps what it learned."""
