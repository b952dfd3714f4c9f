"""What a recording tells, as values that can be kept: the ledger has one for each trial (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from iostudy.telemetry.block_requests import BlockRequests

Figures = Mapping[str, float]
"""Figures by their names; one that is not known is left out. docs/telemetry.md has the names."""


@dataclass(frozen=True)
class ForeignProcess:
    """A process that is not the workload's, and what it did meanwhile.

    ``cpu_seconds`` of all its threads; ``read_kB`` and ``written_kB`` are what it caused to be
    moved from and to storage, in kB of 1024 bytes.
    """

    pid: int
    name: str
    cpu_seconds: float
    read_kB: float  # noqa: N815 - as iostat writes it
    written_kB: float  # noqa: N815


@dataclass(frozen=True)
class TelemetrySummary:
    """The figures of one recording that took ``seconds``.

    ``devices`` have iostat's figures by device; ``machine`` shares of CPU time, pressure and
    memory; ``network`` sar's figures by interface; ``nfs`` nfsiostat's by mount; ``workload`` what
    its own processes used; ``foreign`` the busiest other processes, the busiest first; ``requests``
    what the block layer did, None where that was not asked for.
    """

    seconds: float
    devices: Mapping[str, Figures]
    machine: Figures
    network: Mapping[str, Figures] = field(default_factory=dict)
    nfs: Mapping[str, Figures] = field(default_factory=dict)
    workload: Figures = field(default_factory=dict)
    foreign: tuple[ForeignProcess, ...] = ()
    requests: BlockRequests | None = None
