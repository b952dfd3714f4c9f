"""Effects of the factors in a screening."""
