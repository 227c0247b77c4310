"""What rule an acceptance function follows, read off its answers to crafted chains and trees."""
