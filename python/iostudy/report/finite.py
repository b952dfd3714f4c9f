"""Conversion of NaN and infinite numbers to None."""

from __future__ import annotations

import math
from collections.abc import Mapping

from iostudy.report.base import Span


def finite(value: float | None) -> float | None:
    """``value`` unless it is NaN or infinite."""
    return value if value is not None and math.isfinite(value) else None


def finite_values(values: Mapping[str, float] | None) -> dict[str, float | None]:
    """A mapping of numbers, each finite or None."""
    return {name: finite(value) for name, value in (values or {}).items()}


def round_values(values: Mapping[str, float] | None) -> dict[str, float | None]:
    """Return `finite_values` rounded to six digits, the precision of kernel counters over a time.

    The other ten digits would be more than half of a report of thousands of trials.
    """
    return {
        name: float(f"{value:.6g}") if math.isfinite(value) else None
        for name, value in (values or {}).items()
    }


def build_span(interval: tuple[float, float]) -> Span | None:
    """Return an interval with known ends, else None."""
    low, high = map(finite, interval)
    return None if low is None or high is None else Span(low=low, high=high)
