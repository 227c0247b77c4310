"""Products of fp8 matrices: what the vendor's library makes of weights that were quantised."""
