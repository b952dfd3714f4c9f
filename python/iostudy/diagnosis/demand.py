"""What the workload's threads did with their time (pure).

Source: Brendan Gregg's thread state analysis (TSA) method: a thread that is not asleep of its own
will is on a CPU, waits for one, or waits for a device.
"""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.rules.nfs_server import outstanding
from iostudy.telemetry.summary import TelemetrySummary

UNSERVED = 0.2
"""Share of the workload's work that waited for a CPU: from here on there were too few for it. What
its threads did is known from samples, of which a short run has few: with 25 of them a share of 0.2
is known to 0.08 (the standard error of a proportion), and so is told from none."""


@dataclass(frozen=True)
class Demand:
    """How many of the workload's operations were ``running``, and ``waiting`` for its target.

    Running is ``on_cpu``, ``held_back`` by a quota, or waiting for a CPU; ``concurrency`` are all
    that it has under way.
    """

    on_cpu: float
    held_back: float
    running: float
    waiting: float
    concurrency: float

    @property
    def cpu(self) -> float:
        """The share of its work (0 to 1) that was the CPU's to do."""
        return self._share(self.running)

    @property
    def unserved(self) -> float:
        """The share of its work (0 to 1) that waited for a CPU, with no quota in its way."""
        return self._share(max(0.0, self.running - self.on_cpu - self.held_back))

    def _share(self, part: float) -> float:
        under_way = self.running + self.waiting
        return part / under_way if under_way else 0.0


def demand(seen: TelemetrySummary, ground: DiagnosisContext) -> Demand | None:
    """What the workload asked for; None if the states of its threads are not known.

    Waiting are its threads in uninterruptible sleep. Asynchronous requests have no thread each:
    they are those in the target's queues, as far as the workload's concurrency goes beyond what was
    running. What lies in the queue beyond that is not waited for, as what a cache writes back.
    Threads that spin run while they wait: what lies in the queue is not the CPU's to do.
    """
    if not seen.workload.keys() >= {"%cpu", "running", "waiting"}:
        return None
    running, waiting = seen.workload["running"], seen.workload["waiting"]
    concurrency = ground.concurrency or running + waiting
    queued = queue(seen, ground)
    if ground.spins:
        running = min(running, max(0.0, concurrency - queued))
    asked = min(queued, max(0.0, concurrency - running))
    return Demand(
        on_cpu=seen.workload["%cpu"] / 100,
        held_back=running * seen.machine.get("%quota", 0.0) / 100,
        running=running,
        waiting=max(waiting, asked),
        concurrency=concurrency,
    )


def queue(seen: TelemetrySummary, ground: DiagnosisContext) -> float:
    """How many requests were in the target's devices, and under way to NFS servers.

    Of a volume's those that its disks had: what it holds back itself, as encryption does for the
    CPU, does not wait for them.
    """
    at_servers = sum(outstanding(seen.nfs[own]) for own in ground.nfs_mounts if own in seen.nfs)
    in_devices = (
        min(own["aqu-sz"], sum(disk["aqu-sz"] for disk in ground.disks(name, seen).values()))
        for name, own in ground.known(seen).items()
    )
    return sum(in_devices) + at_servers


def cpu_busy(seen: TelemetrySummary) -> float:
    """The share of all CPU time in percent that was used; what was stolen is not."""
    return sum(seen.machine.get(name, 0.0) for name in ("%user", "%nice", "%system"))
