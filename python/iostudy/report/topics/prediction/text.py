"""Errors of the simulator as texts."""

from __future__ import annotations

from iostudy.units import format_percent

NOT_VALIDATED = "not validated"


def format_error(error: float | None) -> str:
    """Return the largest error: ``error up to 4.2 %``."""
    return NOT_VALIDATED if error is None else f"error up to {format_percent(round(error, 3))}"
