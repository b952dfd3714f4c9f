"""Drivers of targets: a file for each kind, with what a node asks of it on this host."""
