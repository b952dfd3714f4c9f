"""Rule for the I/O rate cap of a control group: io.max, or blkio.throttle of version 1 (pure).

Throttled requests have not reached the device, so that its figures show little load.
Source: the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/blkio-controller.rst.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import OF_A_SLOW_DEVICE, Bottleneck, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.evidence import Confidence, ConfidenceThresholds, Evidence, format_number
from iostudy.telemetry.summary import Figures, TelemetrySummary

NEAR = ConfidenceThresholds(80, 90, 95)
"""Percent of the cap, a choice. The kernel grants it in slices (of 20 to 100 ms,
block/blk-throttle.c), and a run has a beginning and an end."""
MAXIMUM = 110.0
"""Percent of the cap above which the device also served others, as the cap prevents such a rate: a
choice. Values slightly above 100 come from slices and split requests."""
_MERGED = {"r/s": "rrqm/s", "w/s": "wrqm/s"}
"""Requests are counted against a cap before they are merged."""


def find_rate_caps(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find each device on which the capped group reached its cap."""
    for device, figures in summary.devices.items():
        for figure in ("rkB/s", "wkB/s", "r/s", "w/s"):
            yield from _find_reached_cap(figures, device, figure)


def ran_at_cap(summary: TelemetrySummary) -> bool:
    """Return whether the capped group reached a cap, with medium or high confidence."""
    caps = find_rate_caps(summary, DiagnosisContext())
    return any(cap.confidence is not Confidence.LOW for cap in caps)


def _find_reached_cap(figures: Figures, device: str, figure: str) -> Iterator[Finding]:
    cap = figures.get(f"cap_{figure}")
    if not cap:
        return
    counted, rate = _measure_capped_rate(figures, figure, cap)
    percent = 100 * rate / cap
    if confidence := NEAR.grade(percent):
        unit, words = ("kB/s", "kB/s") if "kB" in figure else ("1/s", "requests/s")
        done = "read" if figure.startswith("r") else "written"
        says = f"{format_number(rate)} of {format_number(cap)} {words} {done}"
        share = Evidence(counted, device, rate, unit, says)
        busy = Evidence.read(figures, "%util", device, "%", "the device busy {} %")
        yield Finding(
            Bottleneck.CAP,
            device,
            min(100.0, percent),
            confidence,
            (share, busy),
            explains=OF_A_SLOW_DEVICE,
        )


def _measure_capped_rate(figures: Figures, figure: str, cap: float) -> tuple[str, float]:
    """Return the figure that counts against the cap, and its value: the rate of the capped group.

    If that is unknown it is the device's rate, provided that the cap allows it.
    """
    name = f"capped_{figure}"
    if name in figures:
        return name, figures[name]
    whole = figures[figure] + figures.get(_MERGED.get(figure, ""), 0.0)
    return figure, whole if 100 * whole <= MAXIMUM * cap else 0.0
