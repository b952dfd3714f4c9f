"""Errors of the simulator next to the predicted figures."""
