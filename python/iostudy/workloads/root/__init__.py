"""Workloads on ROOT files."""
