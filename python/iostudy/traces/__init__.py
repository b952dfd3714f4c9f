"""Recorded traces of block events: their files, bios, requests and summary (pure)."""
