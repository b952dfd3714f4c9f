"""Measurement of a drive's parameters by timed reads and writes."""
