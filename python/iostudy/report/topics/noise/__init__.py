"""Noise and the minimum detectable effect."""
