"""Another process that used the target's devices, or the CPU, meanwhile (pure).

What the devices did beyond the workload's own I/O is others' doing. A process that moved much is
not enough: the kernel's own threads move the workload's data a second time, to what lies below a
loop device or a volume. The CPU is only lost to others where the workload waited for it.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.attribution import moved_kb
from iostudy.diagnosis.bottleneck import Bottleneck, Confidence, Evidence, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.cores import in_words, is_confined, its_cores
from iostudy.diagnosis.demand import UNSERVED, demand
from iostudy.diagnosis.thresholds import ConfidenceThresholds, at_most, number, told
from iostudy.telemetry.summary import ForeignProcess, TelemetrySummary

SHARE = ConfidenceThresholds(15, 30, 50)
"""Percent of the device's traffic, or of all CPU time. The workload's own I/O has some beside it
that no process is charged with: journals, metadata, pages that an earlier process left dirty. The
steps are a choice: from one half on more of it is others' than the workload's."""
USED = 50.0
"""%util below which there was enough left for the workload: what others do not use is more than
what it has itself (as `diagnosis.SELDOM_BUSY`)."""
FOREIGN_CPU = "foreign_%cpu"
"""What all others used together, in percent of one core."""
UNKNOWN = "not known which"


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """The busiest other process, if others used a good part of what the workload needed."""
    yield from _of_the_device(seen, ground)
    yield from _of_the_cpu(seen, ground)


def _of_the_device(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    own, busiest = moved_kb(seen), ground.busiest(seen)
    if own is None or not busiest or seen.devices[busiest]["%util"] < USED:
        return
    known = ground.known(seen)
    moved = sum(figures["kB_read"] + figures["kB_wrtn"] for figures in known.values())
    excess = max(0.0, moved - own)
    confidence = SHARE.grade(100 * excess / moved) if moved else None
    if confidence:
        # Which device a process used is not told: whoever moved enough may have been it.
        suspects = [_name(each) for each in seen.foreign if _traffic(each) >= excess / 2]
        share = 100 * excess / moved
        says = f"{number(share)} % of what {ground.named} moved was not the workload's"
        figures = known[busiest]
        util = told(figures, "%util", busiest, "%", "the device busy {} % of the time")
        yield Finding(
            Bottleneck.FOREIGN,
            " or ".join(suspects) or UNKNOWN,
            figures["%util"] * share / 100,
            confidence if suspects else Confidence.LOW,
            (Evidence("kB", busiest, excess, "kB", says), util),
            explains=(
                Bottleneck.DEVICE,
                Bottleneck.WRITEBACK,
                Bottleneck.LOG,
                Bottleneck.CONCURRENCY,
            ),
        )


def _of_the_cpu(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    machine, asked = seen.machine, demand(seen, ground)
    if asked is None or asked.unserved < UNSERVED or not machine.keys() >= {FOREIGN_CPU, "cores"}:
        return
    # Of the cores that it may use they had at most what it did not use itself.
    cores = its_cores(seen)
    share = min(machine[FOREIGN_CPU], 100 * max(0.0, cores - asked.on_cpu)) / cores
    if confidence := SHARE.grade(share):
        yield Finding(
            Bottleneck.FOREIGN,
            UNKNOWN if is_confined(seen) else _who_computed_most(seen),
            100 * asked.unserved,
            at_most(confidence, *([Confidence.MEDIUM] if is_confined(seen) else [])),
            (Evidence(FOREIGN_CPU, "", machine[FOREIGN_CPU], "%", _shared(seen, share)),),
            explains=(Bottleneck.CPU, Bottleneck.CORE),
        )


def _shared(seen: TelemetrySummary, share: float) -> str:
    """Where others computed is not known, nor who of them did so where."""
    if is_confined(seen):
        return f"others used up to {number(share)} % of {in_words(seen)}"
    return f"others used {number(share)} % of all CPU time"


def _who_computed_most(seen: TelemetrySummary) -> str:
    busiest = max(seen.foreign, key=lambda process: process.cpu_seconds, default=None)
    return _name(busiest) if busiest else UNKNOWN


def _traffic(process: ForeignProcess) -> float:
    return process.read_kB + process.written_kB


def _name(process: ForeignProcess) -> str:
    return f"{process.name}, process {process.pid}"
