"""Figures of the recording itself: suspends, gaps, number of samples (pure)."""

from __future__ import annotations

from iostudy.telemetry.samples import Samples, counter_increments, sum_known
from iostudy.telemetry.summary import Figures

_MILLISECONDS = 3
"""Decimals of seconds. Both clocks are read one after the other, so that less is not reliable."""


def compute_clock_figures(samples: Samples) -> Figures:
    """Compute ``suspended_s``, ``longest_gap_s`` between two samples, and ``samples``.

    All rates are over time in which the machine was awake (CLOCK_MONOTONIC). A suspend is the
    lead of CLOCK_BOOTTIME.
    """
    figures = {"samples": float(len(samples.seconds))}
    if len(samples.intervals):
        figures["longest_gap_s"] = float(samples.intervals.max())
    if (boottime := samples.group("clock").get("boottime_ns")) is not None:
        ahead = sum_known(counter_increments(boottime)) / 1e9 - float(samples.seconds[-1])
        figures["suspended_s"] = max(0.0, round(ahead, _MILLISECONDS))
    return figures
