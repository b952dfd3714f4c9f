"""Reversible changes of the host: journal, transaction, recovery and locks."""
