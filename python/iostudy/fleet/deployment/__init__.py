"""Finds the nodes of a fleet, checks what they lack, and starts Dask workers on them."""
