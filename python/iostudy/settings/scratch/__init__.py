"""Scratch disks of a study, and the file systems that are made on them."""
