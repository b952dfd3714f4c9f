"""Key figures of a run, reported for every diagnosis (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.demand import compute_cpu_utilization
from iostudy.diagnosis.evidence import Evidence, build_evidence, format_number
from iostudy.diagnosis.rules.nfs_server import is_network_speed_known
from iostudy.telemetry.summary import TelemetrySummary


def collect_key_figures(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Evidence]:
    """Collect the recorded key figures of each resource, the target's devices first."""
    for device, figures in context.device_figures(summary).items():
        yield build_evidence(figures, "%util", device, "%", f"{device} busy {{}} % of the time")
        yield build_evidence(
            figures, "aqu-sz", device, "requests", f"{device} with a queue of {{}}"
        )
    if "%user" in summary.machine:
        busy = compute_cpu_utilization(summary)
        yield Evidence("%cpu", "", busy, "%", f"all cores busy {format_number(busy)} % of the time")
    for figure, words in _WORKLOAD.items():
        if figure in summary.workload:
            yield build_evidence(summary.workload, figure, "", "", words)
    for figure, words in _MACHINE.items():
        if figure in summary.machine:
            yield build_evidence(summary.machine, figure, "", "%", words)


_WORKLOAD = {
    "%thread": "the workload's busiest thread on a core {} % of the time",
    "waiting": "{} of the workload's threads waiting for storage",
}
_MACHINE = {
    "%throttled": "writers paused {} % of the time",
    "group_memory_some": "tasks of its control group stalled on memory {} % of the time",
    "memory_some": "tasks stalled on memory {} % of the time",
    "io_some": "tasks stalled on I/O {} % of the time",
    "%steal": "{} % of all CPU time stolen",
}


def find_missing_figures(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[str]:
    """Find the figures that were not recorded."""
    yield from (device for device in context.devices if device not in summary.devices)
    for mount in context.nfs_mounts:
        if mount not in summary.nfs:
            yield f"the NFS mount {mount}"
    if context.nfs_mounts and not is_network_speed_known(summary):
        yield "the network's speed"
    if not summary.workload:
        yield "the workload's processes"
    elif "running" not in summary.workload:
        yield "the workload's threads"
    if not summary.machine.keys() & {"group_memory_some", "memory_some"}:
        yield "memory pressure"
