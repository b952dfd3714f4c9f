"""Figures of modelled drives among the telemetry of their devices (pure)."""

from __future__ import annotations

from collections.abc import Iterable

from iostudy.telemetry.summary import TelemetrySummary
from iostudy.units import format_significant

SERVICE_FIGURE, LATENESS_FIGURE = "service_us", "late_us"
"""Mean service time of the model, and the lateness that 99 % of its completions do not exceed."""


def describe_lateness(summaries: Iterable[TelemetrySummary]) -> str:
    """Describe the largest lateness of all recordings; empty without modelled drives."""
    rows = (figures for summary in summaries for figures in summary.devices.values())
    late = [figures[LATENESS_FIGURE] for figures in rows if LATENESS_FIGURE in figures]
    if not late:
        return ""
    return (
        "modelled drives: in each counted trial, 99 % of the completions of a drive were at most "
        f"{format_significant(max(late))} us late"
    )
