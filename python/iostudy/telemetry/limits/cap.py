"""A control group's limit of rate: io.max, or blkio.throttle of version 1 (pure).

What it holds back has not yet reached the device, whose figures look as if little was asked of it.
Source: the kernel's Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/blkio-controller.rst.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.telemetry.limits.diagnosis import Evidence, Finding, Limit
from iostudy.telemetry.limits.grade import Steps, number
from iostudy.telemetry.limits.ground import Ground
from iostudy.telemetry.seen import Figures, Seen

NEAR = Steps(80, 90, 95)
"""Percent of the cap, a choice. The kernel hands it out in slices (of 20 to 100 ms,
block/blk-throttle.c), and a run has a beginning and an end."""
_MERGED = {"r/s": "rrqm/s", "w/s": "wrqm/s"}
"""Requests are counted against a cap before they are merged."""


def find(seen: Seen, ground: Ground) -> Iterator[Finding]:
    """Every device, of the target or below it, whose rate was about that of the cap."""
    del ground
    for device, figures in seen.devices.items():
        for figure in ("rkB/s", "wkB/s", "r/s", "w/s"):
            yield from _reached(figures, device, figure)


def _reached(figures: Figures, device: str, figure: str) -> Iterator[Finding]:
    cap = figures.get(f"cap_{figure}")
    if not cap:
        return
    rate = figures[figure] + figures.get(_MERGED.get(figure, ""), 0.0)
    percent = 100 * rate / cap
    if confidence := NEAR.grade(percent):
        unit, words = ("kB/s", "kB/s") if "kB" in figure else ("1/s", "requests/s")
        done = "read" if figure.startswith("r") else "written"
        says = f"{number(rate)} of {number(cap)} {words} {done}"
        share = Evidence(figure, device, rate, unit, says)
        util = figures["%util"]
        busy = Evidence("%util", device, util, "%", f"the device busy {number(util)} %")
        yield Finding(
            Limit.CAP,
            device,
            min(100.0, percent),
            confidence,
            (share, busy),
            explains=(Limit.DEVICE, Limit.WRITEBACK, Limit.CONCURRENCY),
        )
