"""Rules for memory: stalls on reclaim or swap, writers paused, and memory faulted in (pure).

Source: the kernel's Documentation/accounting/psi.rst. kswapd alone, which frees pages in the
background, is no evidence: every stream through the page cache wakes it. The machine's pressure may
be that of other processes: another container at its own memory limit stalls all the time without
any effect on the workload.

Above (limit + background limit) / 2 dirty pages the kernel pauses writers until they are as slow as
the device. Source: mm/page-writeback.c, dirty_freerun_ceiling() and
balance_dirty_pages().

With free page reporting the guest gives free memory back to the host
(Documentation/mm/free_page_reporting.rst). The host serves a later access in the middle of an
instruction, so the guest counts the time as system time of the allocating process: a writer
through the page cache looks as if it computed.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.evidence import Confidence, ConfidenceThresholds, Evidence, format_number
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
    machine, held = summary.machine, _find_stall(summary.machine)
    signs = [
        Evidence.read(machine, figure, "", "", words)
        for figure, words in _SIGNS.items()
        if machine.get(figure)
    ]
    if held is not None:
        confidence = STALLED.grade(held.value)
        signs.insert(0, held)
    else:
        confidence = SWAPPED.grade(_maximum(machine, (*_WORKLOAD, *_SWAP)))
    if confidence:
        yield Finding(
            Bottleneck.RECLAIM,
            "",
            held.value if held else None,
            Confidence.lowest(confidence, _grade_attribution(machine)),
            tuple(signs),
            explains=(Bottleneck.DEVICE,) if SWAPPED.grade(_maximum(machine, _IO)) else (),
        )


def _find_stall(machine: Figures) -> Evidence | None:
    """Return the share of the time with stalled tasks; None if the kernel does not report it."""
    for figure, tasks in (
        (_GROUP_PRESSURE, "tasks of its control group"),
        ("memory_some", "tasks"),
    ):
        if figure in machine:
            return Evidence.read(
                machine, figure, "", "%", f"{tasks} stalled on it {{}} % of the time"
            )
    return None


def _grade_attribution(machine: Figures) -> Confidence:
    """Return the highest confidence that the workload's own tasks stalled."""
    if _GROUP_PRESSURE in machine:
        return Confidence.HIGH
    confidence = SWAPPED.grade(_maximum(machine, _WORKLOAD))
    return Confidence.MEDIUM if confidence else Confidence.LOW


def _maximum(machine: Figures, figures: tuple[str, ...]) -> float:
    return max(machine.get(figure, 0.0) for figure in figures)


THROTTLED = ConfidenceThresholds(25, 50, 75)
"""Percent of the time above that ceiling. Dirty memory stays there only while writers are as fast
as the device; a first burst below the ceiling is free. A choice around one half."""
WRITER_SHARE = 10.0
"""Percent of the devices' writes from which on the workload is a writer. A choice, above the
journal and access-time writes of a reader."""


def find_writeback_throttling(
    summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    """Find writeback throttling if the workload wrote and dirty memory was at the ceiling."""
    machine = summary.machine
    confidence = THROTTLED.grade(machine.get("%throttled", 0.0))
    if confidence is None or not _is_writer(summary, context):
        return
    evidence = [Evidence.read(machine, "%throttled", "", "%", "writers paused {} % of the time")]
    if "dirty_limit_kB" in machine:
        evidence.append(Evidence.read(machine, "dirty_limit_kB", "", "kB", "dirty limit {} kB"))
    yield Finding(
        Bottleneck.WRITEBACK,
        "",
        machine["%throttled"],
        confidence,
        tuple(evidence),
        explains=(Bottleneck.CONCURRENCY,),
    )


def _is_writer(summary: TelemetrySummary, context: DiagnosisContext) -> bool:
    if "written_kB" not in summary.workload:
        return True
    written = sum(device["kB_wrtn"] for device in context.device_figures(summary).values())
    return summary.workload["written_kB"] > WRITER_SHARE / 100 * written


COST = ConfidenceThresholds(1, 1.5, 2)
"""Milliseconds of system time for each MiB by which the page cache grows from free memory. With
memory of the guest's own it was 0.1 to 0.7 ms, with memory of the host 1.2 to 4 ms."""
HELD = ConfidenceThresholds(50, 65, 80)
"""Percent of the time of one core. A choice: most of a thread's time, as for a busy core."""
_REQUEST_MS = 0.02
"""System time of a request of the device, which is not that of the memory: a generous estimate."""
_KB_PER_MIB = 1024


def find_first_touch(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find first touches of memory in a virtual machine whose writers were hardly paused."""
    machine = summary.machine
    if not context.virtual_machine or THROTTLED.grade(machine.get("%throttled", 0.0)):
        return
    cost, mib_per_second = _cost(summary), machine.get("cache_growth_kB/s", 0.0) / _KB_PER_MIB
    held = min(100.0, cost * mib_per_second / 10)  # ms per second to percent
    grades = COST.grade(cost), HELD.grade(held)
    if not all(grades):
        return
    confidence = Confidence.HIGH if context.free_page_reporting else Confidence.MEDIUM
    figures = f"{format_number(cost)} ms of system time per MiB of page cache from free memory"
    growth = f"{format_number(mib_per_second)} MiB/s of it"
    evidence = [
        Evidence("cache_growth_ms/MiB", "", cost, "ms/MiB", figures),
        Evidence("cache_growth_kB/s", "", mib_per_second, "MiB/s", growth),
    ]
    if context.free_page_reporting:
        says = "the host takes free memory back (free page reporting)"
        evidence.append(Evidence("free_page_reporting", "", 1.0, "", says))
    yield Finding(
        Bottleneck.FIRST_TOUCH,
        "",
        held,
        Confidence.lowest(confidence, *(grade for grade in grades if grade)),
        tuple(evidence),
        explains=(Bottleneck.CPU, Bottleneck.CORE),
    )


def _cost(summary: TelemetrySummary) -> float:
    """Return the cost of growth without that of the devices' requests, 0 if unknown."""
    machine = summary.machine
    if not machine.get("cache_growth_ms/MiB") or not machine.get("cache_growth_kB/s"):
        return 0.0
    requests = sum(device["r/s"] + device["w/s"] for device in summary.devices.values())
    per_mib = requests * _KB_PER_MIB / machine["cache_growth_kB/s"]
    return max(0.0, machine["cache_growth_ms/MiB"] - _REQUEST_MS * per_mib)
