"""Definitions of all settings, one file per kind."""
