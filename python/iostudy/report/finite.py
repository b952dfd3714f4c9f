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
    """As `finite_values`, to six digits: what the kernel counted over a time is not known better.

    The other ten would be more than half of a report of thousands of trials.
    """
    return {
        name: float(f"{value:.6g}") if math.isfinite(value) else None
        for name, value in (values or {}).items()
    }


def build_span(interval: tuple[float, float]) -> Span | None:
    """An interval whose ends are both known; else None."""
    low, high = map(finite, interval)
    return None if low is None or high is None else Span(low=low, high=high)
