"""Durable record of every trial with its circumstances."""
