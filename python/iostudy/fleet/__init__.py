"""Runs one study on many nodes, each on its own storage or all together."""
