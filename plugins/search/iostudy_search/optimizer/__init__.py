"""Search of a configuration space for one that is better than the default."""
