"""Rows of the ledger as values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from iostudy.analysis.switchback.window_plan import EarlierPlan, WindowPlan
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.workloads.aggregation import mean_figures
from iostudy.workloads.measurement import Histogram, Part


class TrialStatus(StrEnum):
    """The status of a trial. FINISHED and FAILED trials of complete blocks count for a verdict.

    FAILED: the workload gave no figure that can be compared, which is a result of its
    configuration. INVALID: a cause outside the workload disturbed the trial.
    """

    STARTED = "started"
    FINISHED = "finished"
    FAILED = "failed"
    INVALID = "invalid"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class SamplesFile:
    """A file of samples: its path below the output folder, and the SHA-256 of its bytes.

    Both are empty for a trial without samples.
    """

    name: str = ""
    sha256: str = ""


NO_SAMPLES = SamplesFile()


@dataclass(frozen=True)
class WindowRow:
    """Half a window of a run: one workload under one configuration in one round of a block.

    ``round`` counts from 1 in each block, ``position`` from 1 in each round. ``previous`` is the
    configuration before it, its own in the second half. Earlier ledgers have whole windows.
    ``start`` is Unix time; ``operations`` are those completed within ``seconds``. Only complete
    blocks are recorded.
    """

    workload: str
    block: int
    round: int
    position: int
    configuration: str
    previous: str
    start: float
    seconds: float
    operations: int
    figures: Mapping[str, float]


@dataclass(frozen=True)
class BlockRow:
    """The mean figures of one configuration over its windows in a block.

    A figure that one of these windows lacks is absent. The windows have several positions.
    """

    workload: str
    block: int
    configuration: str
    figures: Mapping[str, float]
    counts: bool = True
    latencies: Mapping[str, Histogram] | None = None
    parts: tuple[Part, ...] = ()
    position: None = None


def average_windows(windows: Iterable[WindowRow]) -> tuple[BlockRow, ...]:
    """Return the means over the windows of every configuration in every block.

    Windows are of equal length, so the mean of rates is all operations by all time.
    """
    grouped: dict[tuple[str, int, str], list[Mapping[str, float]]] = {}
    for row in windows:
        key = (row.workload, row.block, row.configuration)
        grouped.setdefault(key, []).append(row.figures)
    return tuple(BlockRow(*key, mean_figures(figures)) for key, figures in grouped.items())


@dataclass(frozen=True)
class RunRow:
    """One continuous run of a workload.

    ``settings`` are the values read back under each configuration, by its label. The other fields
    are as in `TrialRow`.
    """

    workload: str
    started_at: float
    settings: Mapping[str, Mapping[str, str]]
    devices: tuple[str, ...]
    summary: TelemetrySummary
    notes: tuple[str, ...]
    telemetry: SamplesFile


@dataclass(frozen=True)
class PlanRow:
    """The plan of a workload's windows, before its first block.

    ``plan`` is None if windows cannot decide, also if a level is found unsettled after the last
    block; ``reason`` says why.
    """

    workload: str
    plan: WindowPlan | EarlierPlan | None
    reason: str = ""


@dataclass(frozen=True)
class SwitchbackRows:
    """The plans, runs and windows of a study; empty for one of whole trials."""

    plans: tuple[PlanRow, ...] = ()
    runs: tuple[RunRow, ...] = ()
    windows: tuple[WindowRow, ...] = ()

    def by_run(self, workload: str) -> tuple[tuple[RunRow, tuple[WindowRow, ...]], ...]:
        """Return the runs of a workload with their windows.

        A run that was killed has no row, so the one before it gets its windows.
        """
        runs = [run for run in self.runs if run.workload == workload]
        ends = [*(run.started_at for run in runs[1:]), math.inf]
        windows = [row for row in self.windows if row.workload == workload]
        return tuple(
            (run, tuple(row for row in windows if run.started_at <= row.start < end))
            for run, end in zip(runs, ends, strict=False)
        )


NO_WINDOWS = SwitchbackRows()


def measured_rows(
    study: Study, switchback: SwitchbackRows, trials: Sequence[TrialRow]
) -> Sequence[MeasuredRow]:
    """Return the rows that decide: means of windows, or trials.

    The trials of a study with windows confirm its verdicts.
    """
    return average_windows(switchback.windows) if find_mode(study).measures_windows else trials


@dataclass(frozen=True)
class TrialRow:
    """One trial: one workload under one configuration in one attempt at one block.

    ``figures`` are the workload's, by the names and units of its definition. ``settings`` are the
    values read back while the trial ran (``block.scheduler@loop0`` -> ``bfq``). ``summary`` is what
    the machine did meanwhile. ``devices`` are those under test: they share the workload's files,
    and none is on top of another. ``phases`` are seconds spent in each phase. ``started_at`` is
    Unix time. ``telemetry`` names the file with the samples. ``counts``: its whole block
    was finished and valid, so that verdicts use it. ``latencies`` and ``parts`` are the workload's,
    see `iostudy.workloads.definition.Measurement`.
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


MeasuredRow = TrialRow | BlockRow
"""Figures of one configuration in one block, from a trial or from windows of a run."""


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
