"""A study with the rows of its ledger: all that a report rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from iostudy.ledger.given_up_workloads import GivenUpWorkload
from iostudy.ledger.rows import (
    NO_WINDOWS,
    MeasuredRow,
    RunRow,
    StudyRow,
    SwitchbackRows,
    TrialRow,
    measured_rows,
)
from iostudy.ledger.samples import ReadSamples
from iostudy.study.model import Study


@dataclass(frozen=True)
class RecordedStudy:
    """A study and the rows of its ledger.

    ``study`` is the executed one: with the host's levels, and without root where ``row`` says so.
    ``place`` is the output folder, as messages name it. ``samples`` reads the telemetry of a trial.
    ``given_up`` are the workloads that the study gave up.
    ``time_limit_seconds`` is the limit that ended the study before its last block.
    """

    place: str
    study: Study
    row: StudyRow
    rows: tuple[TrialRow, ...]
    samples: ReadSamples | None = None
    given_up: tuple[GivenUpWorkload, ...] = ()
    switchback: SwitchbackRows = NO_WINDOWS
    time_limit_seconds: float | None = None

    @cached_property
    def trials(self) -> tuple[TrialRow, ...]:
        """The whole trials in run order."""
        return tuple(sorted(self.rows, key=lambda row: row.id))

    @cached_property
    def measured(self) -> Sequence[MeasuredRow]:
        """The rows that decide."""
        return measured_rows(self.study, self.switchback, self.trials)

    @property
    def runs(self) -> tuple[TrialRow | RunRow, ...]:
        """The runs of workloads: trials in run order, then the runs that contain windows."""
        return (*self.trials, *self.switchback.runs)
