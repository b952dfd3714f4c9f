"""Hadoop's properties: site files, their variables, and reserved names."""
