"""Document of ``iostudy watch --json -- COMMAND``: activity during a command."""

from __future__ import annotations

from typing import Literal

from pydantic import FiniteFloat

from iostudy.report.base import DiagnosisReport, Value, declare_schema

Figures = dict[str, FiniteFloat | None]


class ProcessReport(Value):
    """Resources used by a process, including its short-lived children."""

    pid: int
    """Process id."""
    name: str
    """Name of the process."""
    of_workload: bool
    """Whether it belongs to the command."""
    cpu_seconds: FiniteFloat
    """CPU time in seconds."""
    read_bytes: int
    """Bytes read from storage."""
    written_bytes: int
    """Bytes written to storage, possibly later."""


class WatchReport(Value):
    """Activity during a command; docs/telemetry has the names and units of all figures."""

    schema_name: Literal["iostudy.watched/1"] = declare_schema("iostudy.watched/1")
    command: tuple[str, ...]
    """The command with its arguments."""
    exit_code: int
    """Its exit code; 128 plus the number of the signal that ended it."""
    ended: str
    """Its end: ISO 8601 with the offset from UTC."""
    seconds: FiniteFloat
    """Time from just before its start to its end."""
    device: str
    """The first of ``devices`` that the diagnosis uses; empty if none was active."""
    devices: dict[str, Figures]
    """iostat's figures by the kernel's names."""
    called: dict[str, str]
    """The display name of each device."""
    machine: Figures
    """Figures of the whole host."""
    network: dict[str, Figures]
    """sar's figures by interface."""
    nfs: dict[str, Figures]
    """nfsiostat's figures by mount."""
    workload: Figures
    """Resources used by the command and its descendants."""
    processes: tuple[ProcessReport, ...]
    """The busiest five of the command, then the busiest five others."""
    limited_by: DiagnosisReport
    """Bottleneck of the command."""
