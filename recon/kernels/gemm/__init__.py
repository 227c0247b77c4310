"""Matrix rate: what the vendor's library reaches on random data."""
