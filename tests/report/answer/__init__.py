"""Tests of the answer on one screen."""
