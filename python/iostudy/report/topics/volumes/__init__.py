"""Volumes compared with the disks that they consist of."""
