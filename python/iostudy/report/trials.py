"""Values of trials, and means of telemetry."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.ledger.rows import TrialStatus
from iostudy.report.base import Value


class TrialReport(Value):
    """One trial, in run order.

    ``figures`` are as the ledger keeps them; ``devices``, ``machine`` and ``phases`` to six digits.
    """

    number: int
    """Place in run order, from 1."""
    block: int
    attempt: int
    position: int
    workload: str
    configuration: str
    status: TrialStatus
    reason: str
    counts: bool
    """Its whole block was finished and valid, so that verdicts use it."""
    outlier: bool
    """Far from the other counted trials of its configuration; flagged, and still counted."""
    started_at: FiniteFloat
    """Unix time in seconds."""
    value: FiniteFloat | None
    """The figure that verdicts use."""
    figures: dict[str, FiniteFloat | None]
    settings: dict[str, str]
    device: str
    """The first of ``devices`` that was under test; empty if there was none."""
    devices: dict[str, dict[str, FiniteFloat | None]]
    machine: dict[str, FiniteFloat | None]
    phases: dict[str, FiniteFloat | None]
    limit: Bottleneck | None = None
    """The bottleneck; None for a trial that does not count."""
    notes: tuple[str, ...]
    telemetry: str


class TelemetryReport(Value):
    """Means of telemetry over the counted trials of one configuration on one workload."""

    workload: str
    configuration: str
    trials: int
    devices: dict[str, dict[str, FiniteFloat | None]]
    """Figures by name; the tested device has the report's ``device`` as its name."""
    machine: dict[str, FiniteFloat | None]
