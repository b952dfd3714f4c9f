"""Execution of switchback studies: pilot, blocks of windows, and confirmation by whole trials."""
