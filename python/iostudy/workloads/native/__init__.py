"""Workloads that run on iostudy's own engine."""
