"""Values of trials, and means of telemetry."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.ledger.rows import TrialStatus
from iostudy.report.base import Value


class TrialReport(Value):
    """One trial."""

    number: int
    """Place in run order, from 1."""
    block: int
    """Number of its block, from 1."""
    attempt: int
    """Number of the attempt at the block, from 1."""
    position: int
    """Place in the order of the block, from 1."""
    workload: str
    """Label of the workload."""
    configuration: str
    """Label of the configuration."""
    status: TrialStatus
    """Finished, failed, invalid, interrupted, or still started."""
    reason: str
    """Why the trial is not valid; empty otherwise."""
    counts: bool
    """Whether verdicts use it: no trial of its block was invalid."""
    slow: bool
    """Whether it failed, or is worse than the median of its configuration by over five margins. It
    counts."""
    started_at: FiniteFloat
    """Unix time in seconds."""
    value: FiniteFloat | None
    """The figure that verdicts use; null if unknown."""
    figures: dict[str, FiniteFloat | None]
    """All figures of the workload, with all digits."""
    settings: dict[str, str]
    """Values read back during the trial, by setting and place: ``block.scheduler@loop0``."""
    device: str
    """The first device under test; empty without one."""
    devices: dict[str, dict[str, FiniteFloat | None]]
    """iostat's figures by device, to six digits."""
    machine: dict[str, FiniteFloat | None]
    """Figures of the whole host, to six digits."""
    phases: dict[str, FiniteFloat | None]
    """Seconds of each phase of the trial, to six digits."""
    limit: Bottleneck | None = None
    """The bottleneck; null for a trial that does not count."""
    notes: tuple[str, ...]
    """Remarks on the trial."""
    telemetry: str
    """Parquet file with the samples, below the output folder; empty without samples."""


class TelemetryReport(Value):
    """Means of telemetry over the counted trials of one configuration on one workload."""

    workload: str
    """Label of the workload."""
    configuration: str
    """Label of the configuration."""
    trials: int
    """Number of counted trials."""
    devices: dict[str, dict[str, FiniteFloat | None]]
    """iostat's figures by device; the tested device has the name in the report's ``device``."""
    machine: dict[str, FiniteFloat | None]
    """Figures of the whole host."""
