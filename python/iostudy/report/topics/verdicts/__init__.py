"""Verdicts: results, answer, headline and next steps."""
