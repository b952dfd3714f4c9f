"""Covariates by configuration."""
