"""The empty launch: no kernel takes less time."""
