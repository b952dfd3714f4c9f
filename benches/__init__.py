"""Benchmarks of the program against its peers, as ratios within one run."""
