"""Scratch disks of a study, and their file systems."""
