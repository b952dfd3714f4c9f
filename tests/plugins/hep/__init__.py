"""Tests of the plugin iostudy-hep."""
