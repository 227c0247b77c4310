"""Features as data."""
