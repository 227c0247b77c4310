"""A draft tree from the best prefixes of each of the drafter's steps, on the device."""
