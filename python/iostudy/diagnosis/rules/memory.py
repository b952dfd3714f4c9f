"""Rule for memory: tasks that stalled on reclaim or swap (pure).

Source: the kernel's Documentation/accounting/psi.rst. kswapd alone, which frees pages in the
background, is no evidence: every stream through the page cache wakes it. The machine's pressure may
be that of other processes: another container at its own memory limit stalls all the time without
any effect on the workload.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.evidence import (
    Confidence,
    ConfidenceThresholds,
    Evidence,
    build_evidence,
    lowest_confidence,
)
from iostudy.telemetry.summary import Figures, TelemetrySummary

STALLED = ConfidenceThresholds(10, 20, 40)
"""Percent of the time in which some task stalled on memory. A choice, well
below the 60 % for 30 s at which systemd-oomd kills by default (oomd.conf(5))."""
SWAPPED = ConfidenceThresholds(10, 100, 1000)
"""Pages swapped in or out a second, or direct reclaims a second, if the kernel does not report
memory pressure. Powers of ten, a choice: the duration of each stall is unknown."""
_GROUP_PRESSURE = "group_memory_some"
_AT_ITS_LIMIT = ("memory_high/s", "memory_max_hits/s")
_SWAP = ("pswpin/s", "pswpout/s")
_IO = (*_AT_ITS_LIMIT, *_SWAP, "majflt/s")
"""Figures of reclaim that causes I/O: pages that are written out, and read again when needed. The
reclaim of clean pages causes none."""
_WORKLOAD = (*_AT_ITS_LIMIT, "allocstall/s")
"""Figures that affect the workload itself: its own group at a limit, or direct reclaim of the whole
machine. The kernel does not count reclaim at another group's limit here (do_try_to_free_pages() of
its mm/vmscan.c)."""
_SIGNS = {
    "allocstall/s": "{} direct reclaims a second",
    "pswpin/s": "{} pages a second swapped in",
    "pswpout/s": "{} pages a second swapped out",
    "memory_high/s": "{} times a second above the control group's memory.high",
    "memory_max_hits/s": "{} times a second at the control group's memory limit",
    "oom_kills": "{} processes killed by the OOM killer",
}


def find_memory_stalls(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find memory if tasks stalled on it: those of the workload's group if known."""
    del context
    machine, signs = summary.machine, tuple(_collect_signs(summary.machine))
    held, evidence = _find_stall(machine), signs
    if held is not None:
        confidence = STALLED.grade(held.value)
        evidence = (held, *signs)
    else:
        confidence = SWAPPED.grade(_maximum(machine, (*_WORKLOAD, *_SWAP)))
    if confidence:
        yield Finding(
            Bottleneck.RECLAIM,
            "",
            held.value if held else None,
            lowest_confidence(confidence, _grade_attribution(machine)),
            evidence,
            explains=(Bottleneck.DEVICE,) if SWAPPED.grade(_maximum(machine, _IO)) else (),
        )


def _find_stall(machine: Figures) -> Evidence | None:
    """Return the share of the time with stalled tasks; None if the kernel does not report it."""
    if _GROUP_PRESSURE in machine:
        words = "tasks of its control group stalled on it {} % of the time"
        return build_evidence(machine, _GROUP_PRESSURE, "", "%", words)
    if "memory_some" in machine:
        return build_evidence(
            machine, "memory_some", "", "%", "tasks stalled on it {} % of the time"
        )
    return None


def _grade_attribution(machine: Figures) -> Confidence:
    """Return the highest confidence that the workload's own tasks stalled."""
    if _GROUP_PRESSURE in machine:
        return Confidence.HIGH
    own = SWAPPED.grade(_maximum(machine, _WORKLOAD))
    return Confidence.MEDIUM if own else Confidence.LOW


def _maximum(machine: Figures, figures: tuple[str, ...]) -> float:
    return max(machine.get(figure, 0.0) for figure in figures)


def _collect_signs(machine: Figures) -> Iterator[Evidence]:
    for figure, words in _SIGNS.items():
        if machine.get(figure):
            yield build_evidence(machine, figure, "", "", words)
