"""Directories that a study compares, with their mounts."""
