"""Comparison of two studies."""
