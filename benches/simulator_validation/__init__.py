"""Simulator against the kernel: the same workloads on the same modelled drive."""
