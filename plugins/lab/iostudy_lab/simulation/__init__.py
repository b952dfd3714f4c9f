"""Trials on simulated hosts."""
