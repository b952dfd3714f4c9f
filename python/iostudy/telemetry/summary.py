"""Summary of a recording, as the ledger keeps it for each trial (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from iostudy.telemetry.block_requests import BlockRequests

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
