"""Persistence of a winner as configuration that the system reads at boot."""
