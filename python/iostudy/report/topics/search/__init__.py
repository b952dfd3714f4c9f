"""Candidates, responses and importance in a search."""
