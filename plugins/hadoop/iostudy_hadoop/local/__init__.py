"""A cluster of real daemons on this machine."""
