"""Hadoop's own benchmarks: their arguments, and what they tell."""
