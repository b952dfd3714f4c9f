"""A control group's limit of rate: io.max, or blkio.throttle of version 1 (pure).

What it holds back has not yet reached the device, whose figures look as if little was asked of it.
Source: the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/blkio-controller.rst.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Evidence, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.thresholds import ConfidenceThresholds, number
from iostudy.telemetry.summary import Figures, TelemetrySummary

NEAR = ConfidenceThresholds(80, 90, 95)
"""Percent of the cap, a choice. The kernel hands it out in slices (of 20 to 100 ms,
block/blk-throttle.c), and a run has a beginning and an end."""
MOST = 110.0
"""Percent of the cap beyond which others' I/O is among what the device did, as a group that is held
to the cap cannot do it: a choice. What is above 100 comes of slices and split requests."""
_MERGED = {"r/s": "rrqm/s", "w/s": "wrqm/s"}
"""Requests are counted against a cap before they are merged."""


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """Every device, of the target or below it, of which the group that is capped used its cap."""
    del ground
    for device, figures in seen.devices.items():
        for figure in ("rkB/s", "wkB/s", "r/s", "w/s"):
            yield from _reached(figures, device, figure)


def _reached(figures: Figures, device: str, figure: str) -> Iterator[Finding]:
    cap = figures.get(f"cap_{figure}")
    if not cap:
        return
    counted, rate = _counted(figures, figure, cap)
    percent = 100 * rate / cap
    if confidence := NEAR.grade(percent):
        unit, words = ("kB/s", "kB/s") if "kB" in figure else ("1/s", "requests/s")
        done = "read" if figure.startswith("r") else "written"
        says = f"{number(rate)} of {number(cap)} {words} {done}"
        share = Evidence(counted, device, rate, unit, says)
        util = figures["%util"]
        busy = Evidence("%util", device, util, "%", f"the device busy {number(util)} %")
        yield Finding(
            Bottleneck.CAP,
            device,
            min(100.0, percent),
            confidence,
            (share, busy),
            explains=(
                Bottleneck.DEVICE,
                Bottleneck.WRITEBACK,
                Bottleneck.LOG,
                Bottleneck.CONCURRENCY,
            ),
        )


def _counted(figures: Figures, figure: str, cap: float) -> tuple[str, float]:
    """What counts against the cap, by its name: what the group moved that has it.

    Where that is not known, all that the device did may have been the group's, if the cap allows
    for it.
    """
    own = f"capped_{figure}"
    if own in figures:
        return own, figures[own]
    whole = figures[figure] + figures.get(_MERGED.get(figure, ""), 0.0)
    return figure, whole if 100 * whole <= MOST * cap else 0.0
