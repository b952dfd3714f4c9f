"""Hadoop clusters as changes of the host: what a study has started or made is gone after it."""
