"""Searching a space of configurations for one that beats the default."""
