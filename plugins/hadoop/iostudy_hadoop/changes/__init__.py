"""Hadoop clusters as reversible changes of the host."""
