"""The program beside its peers, as ratios of one run."""
