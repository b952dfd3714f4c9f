"""Summary of a recording and of its block requests, as the ledger keeps it for a trial (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TRACING_COST_NOTE = (
    "every request of the disks is traced, which costs a little time of each: "
    "compare only with results that were traced as well"
)
"""The note in every study with tracing."""

Operation = str
"""``read``, ``write``, ``discard`` or ``flush``."""


@dataclass(frozen=True)
class Requests:
    """The requests of one operation on one device, from issue to the driver to completion.

    ``latencies_us`` is (upper bound in microseconds, count), ``sizes`` (bytes, count), both
    ascending; a flush has size 0.
    """

    count: int
    mean_us: float
    max_us: float
    latencies_us: tuple[tuple[float, int], ...]
    sizes: tuple[tuple[int, int], ...]

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Requests:
        """Build it from JSON values, in which pairs are lists."""
        pairs = {name: tuple(map(tuple, values[name])) for name in ("latencies_us", "sizes")}
        return cls(**{**values, **pairs})

    @property
    def moved_bytes(self) -> int:
        """The bytes of all requests."""
        return sum(size * count for size, count in self.sizes)


@dataclass(frozen=True)
class BlockRequests:
    """All recorded block requests, by device and operation.

    Device-mapper and md pass requests on and have none of their own. ``events`` were read; ``lost``
    were overwritten before that. ``unmatched`` are issues or completions without a counterpart: it
    was outside the recording, or was lost.
    """

    devices: Mapping[str, Mapping[Operation, Requests]]
    events: int
    lost: int
    unmatched: int
    reader_cpu_seconds: float

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> BlockRequests:
        """Build it from JSON values."""
        devices = {
            device: {name: Requests.from_values(counts) for name, counts in operations.items()}
            for device, operations in values["devices"].items()
        }
        return cls(**{**values, "devices": devices})

    def notes(self) -> tuple[str, ...]:
        """Return notes about missing requests."""
        notes = []
        if not self.devices:
            notes.append("no request was recorded on any device below the target")
        if self.lost:
            notes.append(
                f"{self.lost} of {self.events + self.lost} events of block requests were "
                "overwritten before they were read: requests are missing from their histograms"
            )
        return tuple(notes)


Figures = Mapping[str, float]
"""Figures by name; unknown ones are absent. docs/telemetry/samples.md has the names."""


@dataclass(frozen=True)
class ForeignProcess:
    """A process outside the workload, with its CPU time and I/O during the recording.

    ``cpu_seconds`` is of all its threads; ``read_kB`` and ``written_kB`` are its reads from and
    writes to storage, in kB of 1024 bytes.
    """

    pid: int
    name: str
    cpu_seconds: float
    read_kB: float  # noqa: N815 - as iostat writes it
    written_kB: float  # noqa: N815


@dataclass(frozen=True)
class Submitter:
    """A process outside the workload, or work of an array (no ``pid``), that used a device.

    Its own requests to the ``device`` were counted: ``kB`` of 1024 bytes.
    """

    device: str
    name: str
    pid: int | None
    kB: float  # noqa: N815 - as iostat writes it

    @property
    def title(self) -> str:
        """Its name with its pid: ``fio, process 123``."""
        return self.name if self.pid is None else f"{self.name}, process {self.pid}"


@dataclass(frozen=True)
class TelemetrySummary:
    """The figures of one recording that took ``seconds``.

    ``devices`` has iostat's figures by device; ``machine`` shares of CPU time, pressure and
    memory; ``network`` sar's figures by interface; ``nfs`` nfsiostat's by mount; ``workload`` the
    figures of its own processes; ``foreign`` the busiest other processes, the busiest first;
    ``requests`` the block requests, None unless they were traced. ``submitters`` are others with
    counted I/O on a device. ``private_devices`` are those that the study made, which nobody else
    uses. ``below`` has the devices directly below each layer of a volume of the study, ``titles``
    all names of these devices.
    """

    seconds: float
    devices: Mapping[str, Figures]
    machine: Figures
    network: Mapping[str, Figures] = field(default_factory=dict)
    nfs: Mapping[str, Figures] = field(default_factory=dict)
    workload: Figures = field(default_factory=dict)
    foreign: tuple[ForeignProcess, ...] = ()
    requests: BlockRequests | None = None
    submitters: tuple[Submitter, ...] = ()
    private_devices: Sequence[str] = ()
    below: Mapping[str, Sequence[str]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
