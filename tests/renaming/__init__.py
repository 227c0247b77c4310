"""The rename test: real trees in which every name is another, and the standings that stay."""
