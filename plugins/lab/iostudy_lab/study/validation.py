"""Errors of the simulator, measured against a kernel by `benches.simulator_validation`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pydantic import FiniteFloat, PositiveInt

from iostudy.study.fields import StudySection

FILE = Path(__file__).parent / "simulator-validation.json"


class ValidationRow(StudySection):
    """A workload under a scheduler, on a modelled drive under the kernel and in the simulator.

    Errors are those of the mean over the runs, as fractions of the kernel's figure. Rates are
    operations a second, with the lowest and highest of the kernel's runs. ``order`` is the longest
    common subsequence of both orders of issue, and ``punctual`` the share of requests that both
    issue within a millisecond; both as fractions, at the kernel's arrivals and completions.
    """

    drive: str
    scheduler: str
    workload: str
    runs: PositiveInt
    late_runs: int
    kernel_rate: FiniteFloat
    kernel_range: tuple[FiniteFloat, FiniteFloat]
    predicted_rate: FiniteFloat
    kernel_p99_ms: FiniteFloat
    predicted_p99_ms: FiniteFloat
    order: FiniteFloat
    punctual: FiniteFloat

    @property
    def rate_error(self) -> float:
        """Error of the rate."""
        return self.predicted_rate / self.kernel_rate - 1

    @property
    def p99_error(self) -> float:
        """Error of the 99th percentile of the latency of reads."""
        return self.predicted_p99_ms / self.kernel_p99_ms - 1


class Validation(StudySection):
    """All rows of a measurement, with the command and the circumstances."""

    command: str
    date: str
    kernel: str
    circumstances: str
    signs_decided: int
    signs_right: int
    rows: tuple[ValidationRow, ...]

    def find(self, drive: str, scheduler: str) -> Sequence[ValidationRow]:
        """Return the rows of a scheduler on a drive."""
        return [row for row in self.rows if (row.drive, row.scheduler) == (drive, scheduler)]


@cache
def load_validation() -> Validation:
    """Return the measurement that belongs to this version."""
    return Validation.model_validate_json(FILE.read_text("utf-8"))
