"""Finds the nodes of a fleet, checks what they lack, and starts agents on them."""
