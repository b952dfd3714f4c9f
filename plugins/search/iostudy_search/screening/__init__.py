"""Screening designs, their effects and their report."""
