"""Sampling rates in Hz."""

DEFAULT_HZ = 10.0
MIN_HZ, MAX_HZ = 1.0, 100.0
