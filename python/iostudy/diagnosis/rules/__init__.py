"""Rules of the diagnosis: one bottleneck each, from the figures of a recording."""
