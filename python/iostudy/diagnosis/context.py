"""Facts about machine and workload that a diagnosis needs, and their construction (pure).

Data and processors are attributed to the workload or to others. Source: sched_getaffinity(2). A
cpuset (batch system, container) or an affinity (taskset(1)) restricts a workload to some of the
machine's processors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from iostudy.diagnosis.evidence import MAJORITY
from iostudy.telemetry.summary import Figures, TelemetrySummary

if TYPE_CHECKING:
    from iostudy.workloads.definition import SerialResource


@dataclass(frozen=True)
class OperatingPoint:
    """The mean load and service of a device in one run.

    ``queue`` requests were in it at once; each took ``wait_ms`` and moved ``request_kB``; a share
    of ``reads`` (0 to 1) were reads; ``per_second`` requests completed in a second.
    """

    queue: float
    per_second: float
    wait_ms: float
    request_kB: float  # noqa: N815 - as iostat writes it
    reads: float

    @classmethod
    def from_figures(cls, figures: Figures) -> OperatingPoint | None:
        """Compute the point from iostat's figures of a device; None if it was idle."""
        reads, writes = figures["r/s"], figures["w/s"]
        if not (completed := reads + writes):
            return None
        waits = reads * figures["r_await"] + writes * figures["w_await"]
        moved = figures["rkB/s"] + figures["wkB/s"]
        return cls(
            queue=figures["aqu-sz"],
            per_second=completed,
            wait_ms=waits / completed,
            request_kB=moved / completed,
            reads=reads / completed,
        )

    def is_comparable(self, other: OperatingPoint) -> bool:
        """Return whether the rates compare: similar request sizes and a similar read share."""
        low, high = other.request_kB / _SIZE_FACTOR, other.request_kB * _SIZE_FACTOR
        return low <= self.request_kB <= high and abs(self.reads - other.reads) <= _READ_SHARE


_SIZE_FACTOR = 2.0
"""Requests up to twice as large are comparable: a choice. A device at its bandwidth limit serves
half as many requests of twice the size, so that rates of other sizes do not compare."""
_READ_SHARE = 0.25
"""Read shares up to this far apart are comparable: a choice. Reads and writes cost a device
differently, and a configuration changes the mix by what it merges and caches."""
_LONGER_QUEUE = 1.5
"""A queue this many times as long is another load, not noise between runs: a choice. It is twice as
far above 1 as `device.HIGHER_RATE`, as throughput grows less than in proportion to the load."""
_SHORT_QUEUE = 1.5
"""Mean requests in the device up to which requests hardly wait for each other. Even a device that
serves one at a time then has half a waiting request on average."""


@dataclass(frozen=True)
class SerialUsage:
    """Use of a serial resource of the workload, from the workload's own figures.

    ``name`` describes it. Operations waited for it during ``waited`` percent of their time. It was
    in use during ``used`` percent of the run, None if unknown. If it ``stores`` data, the
    workload's devices serve it (a log); otherwise it is a lock in memory.
    """

    name: str
    waited: float
    used: float | None = None
    stores: bool = False


@dataclass(frozen=True)
class WorkloadProperties:
    """The declared properties of a workload; the defaults describe an unknown program.

    ``measured_seconds`` names the figure with the duration that the workload measured, "" if it
    measures the whole run.
    """

    concurrency: int | None = None
    spins: bool = False
    serial_resources: tuple[SerialResource, ...] = ()
    measured_seconds: str = ""


UNKNOWN_WORKLOAD = WorkloadProperties()


@dataclass(frozen=True)
class DiagnosisContext:
    """The known facts about the machine and the workload.

    ``devices`` are the block devices that hold the run's files, by kernel name; none is below
    another. ``members`` are the devices directly below each stacked device; ``nfs_mounts`` the NFS
    mounts that hold the run's files. ``rotational`` are physical disks with platters, which serve
    one request at a time. Virtual and loop devices only claim to be rotational, and are not among
    them. ``concurrency`` is the number of requests or operations that the workload has under way
    at once, None if unknown. ``serial`` is the use of the workload's serial resources. The workload
    ``spins`` if its threads stay on a CPU while they wait. ``measured_seconds`` is the part of the
    recording that the workload measured, None for all of it. ``operating_points`` are those of each
    device in all known runs, this one included. ``free_page_reporting``: the host of the
    ``virtual_machine`` takes free memory back. ``names`` are the study's names of devices.
    ``workload`` is what the figures of a run are read by.
    """

    devices: tuple[str, ...] = ()
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rotational: frozenset[str] = frozenset()
    nfs_mounts: tuple[str, ...] = ()
    concurrency: int | None = None
    serial: tuple[SerialUsage, ...] = ()
    spins: bool = False
    measured_seconds: float | None = None
    operating_points: Mapping[str, tuple[OperatingPoint, ...]] = field(default_factory=dict)
    virtual_machine: bool = False
    free_page_reporting: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    workload: WorkloadProperties = UNKNOWN_WORKLOAD

    def add_run_figures(self, figures: Mapping[str, float]) -> DiagnosisContext:
        """Add the workload's own figures of one run: its serial resources and measured duration."""
        return replace(
            self,
            serial=tuple(_serial_usage(self.workload.serial_resources, figures)),
            measured_seconds=figures.get(self.workload.measured_seconds),
        )

    def title(self, name: str) -> str:
        """Return a device's name with that of the study: ``loop6 (suspect)``."""
        return f"{name} ({self.names[name]})" if name in self.names else name

    @property
    def device_names(self) -> str:
        """Its devices in words."""
        return " and ".join(self.devices)

    def fastest_longer_queue(self, device: str, point: OperatingPoint) -> OperatingPoint | None:
        """Return the fastest of the device's comparable points with a clearly longer queue."""
        comparable = self._comparable_points(device, point)
        longer = (other for other in comparable if other.queue >= _LONGER_QUEUE * point.queue)
        return max(longer, key=lambda other: other.per_second, default=None)

    def short_queue_points(self, device: str, point: OperatingPoint) -> tuple[OperatingPoint, ...]:
        """Return the device's comparable points with hardly any queue."""
        comparable = self._comparable_points(device, point)
        return tuple(other for other in comparable if other.queue <= _SHORT_QUEUE)

    def _comparable_points(self, device: str, point: OperatingPoint) -> tuple[OperatingPoint, ...]:
        points = self.operating_points.get(device, ())
        return tuple(other for other in points if other.is_comparable(point))

    def disk_figures(self, device: str, summary: TelemetrySummary) -> dict[str, Figures]:
        """Return the figures of the lowest recorded devices below a device; else its own."""
        lower = {
            name: figures
            for member in self.members.get(device, ())
            for name, figures in self.disk_figures(member, summary).items()
        }
        alone = {device: summary.devices[device]} if device in summary.devices else {}
        return lower or alone

    def is_rotational(self, device: str) -> bool:
        """Return whether it is a disk with platters, or is on exactly one such disk."""
        lower = self.members.get(device, ())
        return device in self.rotational or (len(lower) == 1 and self.is_rotational(lower[0]))

    def device_figures(self, summary: TelemetrySummary) -> dict[str, Figures]:
        """Return the figures of its devices that were recorded."""
        return {name: summary.devices[name] for name in self.devices if name in summary.devices}

    def busiest_device(self, summary: TelemetrySummary) -> str:
        """Return its device with the highest %util; "" if none was recorded."""
        figures = self.device_figures(summary)
        return max(figures, key=lambda name: figures[name]["%util"], default="")


def collect_operating_points(
    summaries: Iterable[TelemetrySummary],
) -> dict[str, tuple[OperatingPoint, ...]]:
    """Collect the operating point of each device in each run."""
    points: dict[str, list[OperatingPoint]] = {}
    for summary in summaries:
        for device, figures in summary.devices.items():
            if point := OperatingPoint.from_figures(figures):
                points.setdefault(device, []).append(point)
    return {device: tuple(values) for device, values in points.items()}


_NFS = ("nfs", "nfs4")


@dataclass(frozen=True)
class InventoryDevice:
    """A block device of the inventory, by its kernel name.

    ``members`` are the devices directly below a volume or array. ``claims_rotational`` is the
    kernel's flag; files and volumes repeat the flag of what is below them.
    """

    name: str
    members: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    claims_rotational: bool = False
    file_backed: bool = False


@dataclass(frozen=True)
class InventoryMount:
    """A mounted file system."""

    point: str
    source: str
    filesystem: str


def build_context(
    devices: tuple[str, ...],
    inventory: Iterable[InventoryDevice],
    mounts: Iterable[InventoryMount],
    operating_points: Mapping[str, tuple[OperatingPoint, ...]],
    *,
    virtual_machine: bool,
    free_page_reporting: bool = False,
    names: Mapping[str, str] | None = None,
    workload: WorkloadProperties = UNKNOWN_WORKLOAD,
) -> DiagnosisContext:
    """Build the context of a run on ``devices`` and ``mounts``.

    In a virtual machine no disk counts as rotational: the hypervisor hides what a disk is.
    """
    entries = tuple(inventory)
    members = {device.name: device.members for device in entries if device.members}
    # A volume's member may be a partition.
    members |= {part: (device.name,) for device in entries for part in device.partitions}
    nfs_points: dict[str, str] = {}
    for mount in mounts:
        if mount.filesystem in _NFS:
            # All mounts of a source show the same figures.
            nfs_points.setdefault(mount.source, mount.point)
    return DiagnosisContext(
        devices=devices,
        members=members,
        rotational=frozenset(
            device.name
            for device in entries
            if device.claims_rotational and not device.file_backed and not device.members
            if not virtual_machine
        ),
        nfs_mounts=tuple(nfs_points.values()),
        concurrency=workload.concurrency,
        spins=workload.spins,
        operating_points=operating_points,
        virtual_machine=virtual_machine,
        free_page_reporting=free_page_reporting,
        names=names or {},
        workload=workload,
    )


def _serial_usage(
    resources: Iterable[SerialResource], figures: Mapping[str, float]
) -> Iterator[SerialUsage]:
    """Those with all their figures: an earlier version of the workload may not report them."""
    for resource in resources:
        if figures.keys() >= {*resource.waited, *([resource.used] if resource.used else [])}:
            yield SerialUsage(
                resource.name,
                waited=min(100.0, math.fsum(figures[name] for name in resource.waited)),
                used=figures[resource.used] if resource.used else None,
                stores=resource.stores,
            )


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
    workload_kb = compute_workload_kb(summary)
    return (
        workload_kb is None
        or workload_kb >= MAJORITY * compute_data_rate_kb(summary.nfs[mount]) * summary.seconds
    )


def is_foreign_network_traffic(summary: TelemetrySummary) -> bool:
    """Return whether most of an interface's traffic is that of other processes' NFS mount."""
    mounts = (mount for mount in summary.nfs if not is_attributable_to_workload(summary, mount))
    others = max((compute_data_rate_kb(summary.nfs[mount]) for mount in mounts), default=0.0)
    links = summary.network.values()
    carried = (link.get("rxkB/s", 0.0) + link.get("txkB/s", 0.0) for link in links)
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
