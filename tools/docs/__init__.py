"""Generators of the documentation pages and of the JSON schemas."""
