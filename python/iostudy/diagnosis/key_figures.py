"""The main figures of a run, told whatever was found (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Evidence
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.demand import cpu_busy
from iostudy.diagnosis.rules.nfs_server import network_speed_is_known
from iostudy.diagnosis.thresholds import number, told
from iostudy.telemetry.summary import TelemetrySummary


def looked_at(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Evidence]:
    """A figure of each resource that is known, the target's devices first."""
    for device, figures in ground.known(seen).items():
        yield told(figures, "%util", device, "%", f"{device} busy {{}} % of the time")
        yield told(figures, "aqu-sz", device, "requests", f"{device} with a queue of {{}}")
    if "%user" in seen.machine:
        busy = cpu_busy(seen)
        yield Evidence("%cpu", "", busy, "%", f"all cores busy {number(busy)} % of the time")
    for figure, words in _WORKLOAD.items():
        if figure in seen.workload:
            yield told(seen.workload, figure, "", "", words)
    for figure, words in _MACHINE.items():
        if figure in seen.machine:
            yield told(seen.machine, figure, "", "%", words)


_WORKLOAD = {
    "%thread": "the workload's busiest thread on a core {} % of the time",
    "waiting": "{} of the workload's threads waiting for storage",
}
_MACHINE = {
    "%throttled": "writers paused {} % of the time",
    "group_memory_some": "work of its control group stood still for memory {} % of the time",
    "memory_some": "work stood still for memory {} % of the time",
    "io_some": "work stood still for storage {} % of the time",
    "%steal": "{} % of all CPU time stolen",
}


def missing(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[str]:
    """What could not be looked at."""
    yield from (device for device in ground.devices if device not in seen.devices)
    for mount in ground.nfs_mounts:
        if mount not in seen.nfs:
            yield f"the NFS mount {mount}"
    if ground.nfs_mounts and not network_speed_is_known(seen):
        yield "the network's speed"
    if not seen.workload:
        yield "the workload's processes"
    elif "running" not in seen.workload:
        yield "the workload's threads"
    if not seen.machine.keys() & {"group_memory_some", "memory_some"}:
        yield "memory pressure"
