"""Kinds of targets: a file for each, with what a study file says and what follows from it."""
