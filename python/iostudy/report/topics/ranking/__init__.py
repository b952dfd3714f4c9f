"""Combined ranking over all workloads."""
