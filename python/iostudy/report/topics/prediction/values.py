"""Errors of the simulator under the configurations of a study."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.report.base import Value


class PredictionErrorReport(Value):
    """Largest errors of the simulator for one configuration's scheduler on the drive.

    They are null if scheduler and drive were not compared with a kernel.
    """

    configuration: str
    """Label of the configuration."""
    scheduler: str
    """The scheduler of the configuration."""
    workloads: int
    """Workloads that were compared with a kernel; 0 if none was."""
    rate: FiniteFloat | None
    """Largest error of the throughput without its sign, as a fraction."""
    p99: FiniteFloat | None
    """Largest error of the 99th percentile of read latencies without its sign, as a fraction."""
    order: FiniteFloat | None
    """Smallest agreement of the order of requests, as a fraction."""


class PredictionReport(Value):
    """Errors of the simulator, measured against a kernel."""

    drive: str
    """The drive of the study."""
    kernel: str
    """The kernel of the comparison."""
    date: str
    """Date of the comparison."""
    command: str
    """Command of the comparison."""
    circumstances: str
    """Machine of the comparison."""
    signs_decided: int
    """Differences above 10 % that the kernel decided."""
    signs_right: int
    """The decided differences of which the simulator predicted the sign."""
    errors: tuple[PredictionErrorReport, ...]
    """Errors by configuration."""
