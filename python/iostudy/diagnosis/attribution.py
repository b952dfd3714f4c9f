"""Attribution of data and processors to the workload or to others (pure).

Source: sched_getaffinity(2). A cpuset (batch system, container) or an affinity (taskset(1))
restricts a workload to some of the machine's processors.
"""

from __future__ import annotations

from iostudy.diagnosis.evidence import MAJORITY
from iostudy.telemetry.summary import Figures, TelemetrySummary


def compute_data_rate_kb(figures: Figures) -> float:
    """Return kB/s read and written: of a device, or of an NFS mount including headers."""
    return figures.get("rkB/s", 0.0) + figures.get("wkB/s", 0.0)


def compute_workload_kb(summary: TelemetrySummary) -> float | None:
    """Return the kB that the workload itself read and wrote; None if unknown."""
    names = ("read_kB", "written_kB")
    if not all(name in summary.workload for name in names):
        return None
    return sum(summary.workload[name] for name in names)


def is_attributable_to_workload(summary: TelemetrySummary, mount: str) -> bool:
    """Return whether most of the mount's traffic can be the workload's.

    The kernel charges NFS I/O to processes like all I/O (proc_pid_io(5)), except buffered reads in
    Linux 5.18 to 6.2 without commit 9c88ea00fef0. True if the workload's I/O is unknown, or if
    requests had no data: the kernel charges those to nobody.
    """
    own = compute_workload_kb(summary)
    return (
        own is None or own >= MAJORITY * compute_data_rate_kb(summary.nfs[mount]) * summary.seconds
    )


def is_foreign_network_traffic(summary: TelemetrySummary) -> bool:
    """Return whether most of an interface's traffic is that of other processes' NFS mount."""
    mounts = (mount for mount in summary.nfs if not is_attributable_to_workload(summary, mount))
    others = max((compute_data_rate_kb(summary.nfs[mount]) for mount in mounts), default=0.0)
    carried = (own.get("rxkB/s", 0.0) + own.get("txkB/s", 0.0) for own in summary.network.values())
    return others > 0 and others >= MAJORITY * max(carried, default=0.0)


def count_allowed_cores(summary: TelemetrySummary) -> float:
    """Return how many processors it may use: all of them unless a restriction is known."""
    cores = _count_cores(summary)
    return min(cores, summary.workload.get("allowed_cores", cores))


def has_restricted_affinity(summary: TelemetrySummary) -> bool:
    """Return whether it may use fewer processors than the machine has."""
    return count_allowed_cores(summary) < _count_cores(summary)


def format_allowed_cores(summary: TelemetrySummary) -> str:
    """Describe the allowed processors of a restricted workload."""
    count = count_allowed_cores(summary)
    return f"the {count:.0f} cores that it may use" if count > 1 else "the one core that it may use"


def _count_cores(summary: TelemetrySummary) -> float:
    return summary.machine.get("cores", 1.0)
