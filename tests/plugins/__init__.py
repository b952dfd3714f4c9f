"""Tests of the plugins of this repository."""
