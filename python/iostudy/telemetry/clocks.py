"""What the clocks say of the recording itself: suspends, gaps, how many samples (pure)."""

from __future__ import annotations

from iostudy.telemetry.samples import Samples, moved, total
from iostudy.telemetry.summary import Figures

_MILLISECONDS = 3
"""Both clocks are read one after the other: that much apart tells nothing."""


def clock_figures(samples: Samples) -> Figures:
    """``suspended_s``, ``longest_gap_s`` between two samples, and how many ``samples``.

    All rates are over time in which the machine was awake, as CLOCK_MONOTONIC is: a suspend is
    what CLOCK_BOOTTIME ran ahead of it.
    """
    figures = {"samples": float(len(samples.seconds))}
    if len(samples.intervals):
        figures["longest_gap_s"] = float(samples.intervals.max())
    if (boottime := samples.group("clock").get("boottime_ns")) is not None:
        ahead = total(moved(boottime)) / 1e9 - float(samples.seconds[-1])
        figures["suspended_s"] = max(0.0, round(ahead, _MILLISECONDS))
    return figures
