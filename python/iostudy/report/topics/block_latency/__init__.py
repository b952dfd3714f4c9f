"""Latencies of block requests by disk."""
