"""Scaling curves over the levels of a load."""
