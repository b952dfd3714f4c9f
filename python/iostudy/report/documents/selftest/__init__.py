"""Selftest against known effects."""
