"""Hadoop's properties: site files, the variables in them, and what no study gives."""
