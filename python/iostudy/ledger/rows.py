"""Rows of the ledger as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from iostudy.telemetry.summary import TelemetrySummary
from iostudy.workloads.definition import Histogram, Part


class TrialStatus(StrEnum):
    """The status of a trial. Only FINISHED trials of complete blocks count for a verdict."""

    STARTED = "started"
    FINISHED = "finished"
    INVALID = "invalid"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class SamplesFile:
    """A Parquet file of samples: its path below the output folder, and the SHA-256 of its bytes.

    Both are empty for a trial without samples.
    """

    name: str = ""
    sha256: str = ""


NO_SAMPLES = SamplesFile()


@dataclass(frozen=True)
class TrialRow:
    """One trial: one workload under one configuration in one attempt at one block.

    ``figures`` are the workload's, by the names and units of its definition; ``settings`` what was
    read back while the trial ran (``block.scheduler@loop0`` -> ``bfq``). ``summary`` is what the
    machine did meanwhile; ``devices`` are those under test, which share the workload's files, none
    of them on top of another; ``phases`` are seconds spent in each phase. ``started_at`` is Unix
    time. ``telemetry`` names the Parquet file with the samples. ``counts`` says that its whole
    block was finished and valid, so that verdicts use it. ``latencies`` and ``parts`` are the
    workload's, see `iostudy.workloads.definition.Measurement`.
    """

    id: int
    block: int
    attempt: int
    position: int
    workload: str
    configuration: str
    status: TrialStatus
    reason: str = ""
    started_at: float = 0.0
    figures: Mapping[str, float] | None = None
    settings: Mapping[str, str] | None = None
    devices: tuple[str, ...] = ()
    summary: TelemetrySummary | None = None
    phases: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()
    telemetry: SamplesFile = NO_SAMPLES
    counts: bool = False
    latencies: Mapping[str, Histogram] | None = None
    parts: tuple[Part, ...] = ()

    @property
    def device(self) -> str:
        """The first device under test, by which trials are compared; "" without any."""
        return next(iter(self.devices), "")


@dataclass(frozen=True)
class StudyRow:
    """The record of a study before its first trial.

    ``root``: the study ran as root. ``offered`` are the levels that the host offered for factors
    without listed levels. ``left_out`` are the refused configurations with the reason. Together
    with the study text they give the same Study again.
    ``circumstances`` is the host inventory, versions and target as plain JSON values.
    """

    name: str
    text: str
    root: bool
    offered: Mapping[str, tuple[str, ...]]
    left_out: Mapping[str, str]
    seed: int
    started_at: float
    iostudy_version: str
    circumstances: Mapping[str, Any]
