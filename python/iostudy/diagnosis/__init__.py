"""Diagnosis of the bottleneck of a run, from the figures of its recording (pure)."""
