"""A draft tree from the drafter's chances at each position, best prefix first, on the device."""
