"""Clusters that iostudy did not start."""
