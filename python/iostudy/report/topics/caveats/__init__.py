"""Flags on series and pairs, and disturbed trials."""
