"""Demand of the workload for CPU and storage, from the states of its threads (pure).

Source: Brendan Gregg's thread state analysis (TSA) method: a thread that does not sleep
voluntarily is on a CPU, waits for one, or waits for a device.

Source: nfsiostat(8): a request waits in the client's queue, then for the server (rtt); exe is both.
By Little's law the rate times the time is the number of outstanding requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from iostudy.diagnosis.context import DiagnosisContext
from iostudy.telemetry.summary import Figures, TelemetrySummary


@dataclass(frozen=True)
class Demand:
    """The mean numbers of the workload's operations in each state.

    ``running`` operations are ``on_cpu``, ``throttled`` by a quota, or wait for a CPU; ``waiting``
    ones wait for the target; ``concurrency`` is all that it has under way, pauses included, and at
    least one. ``operations`` are those with a thread of their own: asynchronous requests share one.
    """

    on_cpu: float
    throttled: float
    running: float
    waiting: float
    concurrency: float
    operations: float

    @property
    def cpu_share(self) -> float:
        """The share of its operations (0 to 1) that needed a CPU."""
        return self._share(self.running)

    @property
    def starved_share(self) -> float:
        """The share of its operations (0 to 1) that waited for a CPU, without those of a quota."""
        return self._share(max(0.0, self.running - self.on_cpu - self.throttled))

    @property
    def waiting_share(self) -> float:
        """The share of all that it has under way (0 to 1) that waited for the target."""
        return min(1.0, self.waiting / self.concurrency)

    def _share(self, part: float) -> float:
        return part / max(self.operations, self.running + self.waiting)


def compute_demand(summary: TelemetrySummary, context: DiagnosisContext) -> Demand | None:
    """Compute the demand; None if the states of the workload's threads are unknown.

    Threads in uninterruptible sleep wait. Asynchronous requests have no threads: they are the
    requests in the target's queues, at most the workload's concurrency less its running threads.
    The workload does not wait for further queued requests, such as a cache's writeback. Threads
    that spin run while they wait, so that queued requests need no CPU.
    """
    if not summary.workload.keys() >= {"%cpu", "running", "waiting"}:
        return None
    running, waiting = summary.workload["running"], summary.workload["waiting"]
    concurrency = context.concurrency or running + waiting
    threads = summary.workload.get("threads", math.inf)
    queued = count_queued_requests(summary, context)
    if context.spins:
        running = min(running, max(0.0, concurrency - queued))
    asynchronous = min(queued, max(0.0, concurrency - running))
    return Demand(
        on_cpu=summary.workload["%cpu"] / 100,
        throttled=running * summary.machine.get("%quota", 0.0) / 100,
        running=running,
        waiting=max(waiting, asynchronous),
        concurrency=max(1.0, concurrency),
        operations=max(1.0, min(context.concurrency or 1, threads)),
    )


def count_queued_requests(summary: TelemetrySummary, context: DiagnosisContext) -> float:
    """Return how many requests were in the target's devices, and outstanding at NFS servers.

    Only the requests of a volume that its disks had count: those that it holds itself, such as
    encryption, do not wait for a disk.
    """
    at_servers = sum(
        count_outstanding(summary.nfs[m]) for m in context.nfs_mounts if m in summary.nfs
    )
    in_devices = (
        min(
            figures["aqu-sz"],
            sum(disk["aqu-sz"] for disk in context.disk_figures(name, summary).values()),
        )
        for name, figures in context.device_figures(summary).items()
    )
    return sum(in_devices) + at_servers


def compute_cpu_utilization(summary: TelemetrySummary) -> float:
    """Return the used share of all CPU time in percent, without stolen time."""
    return sum(summary.machine.get(name, 0.0) for name in ("%user", "%nice", "%system"))


OPERATIONS = {"r": "a read", "w": "a write", "c": "a commit", "o": "another operation"}
"""A server may answer writes before they are on its disk; a commit waits until they are
(RFC 1813, 3.3.21). Other operations concern names and attributes, as for small files."""


def count_outstanding(figures: Figures, time: str = "exe") -> float:
    """Return the mean number of outstanding operations, or with ``rtt`` of those at the server."""
    at_once = (figures[f"{kind}/s"] * figures[f"{kind}_{time}"] for kind in used_kinds(figures))
    return sum(at_once) / 1000


def used_kinds(figures: Figures) -> Iterator[str]:
    """Return the kinds of operations that occurred."""
    return (kind for kind in OPERATIONS if figures.get(f"{kind}/s"))
