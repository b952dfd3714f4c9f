"""Bottlenecks by workload and configuration."""
