"""Targets of modelled drives, as a study file has them."""
