"""Situations in which people reach hosts, each with what recon does in it."""
