"""Commit of the causal convolution: the window behind the accepted path."""
