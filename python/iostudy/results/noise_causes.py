"""Decomposition of a workload's noise into causes with their share of the variance (pure).

A cloud disk serves a burst from its credit and then a constant rate (a token bucket). A trial may
lie in the burst, on the floor, or reach it on the way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.series import find_period
from iostudy.analysis.variance_shares import VarianceShare, measure_variance_shares
from iostudy.ledger.rows import TrialRow
from iostudy.results.comparisons import collect_figures, common_blocks, workload_log_figures
from iostudy.study.model import Study, WorkloadRequest
from iostudy.telemetry.covariates import FOREIGN_FIGURE
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.units import KIB
from iostudy.workloads.measurement import BYTES

Array = NDArray[np.float64]

_KNOWN_SHARE = 0.9
"""Share of the trials in which an examined indicator must be known."""
_THROTTLING_CORRELATION = -0.5
"""Correlation with throttling events below which they explain a lower frequency."""


Value = Callable[[TrialRow, TelemetrySummary], float | None]


class NoiseCause(StrEnum):
    """A cause of noise that the telemetry of a trial shows."""

    STEAL = "steal"
    FREQUENCY = "CPU frequency"
    THROTTLING = "thermal throttling"
    TOKEN_BUCKET = "token bucket"
    WRITEBACK = "writeback"
    FIRST_TOUCH = "first touch of memory"
    DEVICE_STALLS = "device stalls"
    FOREIGN_CPU = "CPU of another process"
    FOREIGN_IO = "I/O of another process"


@dataclass(frozen=True)
class Indicator:
    """A figure of a trial that grows with the strength of a cause.

    ``value`` returns None if the figure is unknown. ``sign`` is -1 for a figure that falls with
    the strength. ``format`` describes a range of it: ``{} to {} % of the CPU time``.
    """

    cause: NoiseCause
    value: Value
    format: str
    sign: int = 1


@dataclass(frozen=True)
class NoiseContribution:
    """A cause with its share of the variance and the range of its indicator over the trials.

    ``process`` is the foreign process with the most CPU time, or counted I/O, and
    ``period_seconds`` its period if there is one.
    """

    indicator: Indicator
    share: VarianceShare
    minimum: float
    maximum: float
    process: str = ""
    period_seconds: float | None = None


@dataclass(frozen=True)
class NoiseDecomposition:
    """Variance decomposition of a workload's noise: contributions, the largest first.

    ``examined`` are the causes whose indicators were known and varied; ``trials`` is the number of
    counted trials.
    """

    workload: str
    trials: int
    contributions: tuple[NoiseContribution, ...]
    examined: tuple[NoiseCause, ...]

    @property
    def unexplained(self) -> float:
        """The share of the variance without a known cause."""
        return max(0.0, 1 - sum(contribution.share.share for contribution in self.contributions))


def _machine(figure: str) -> Value:
    return lambda row, summary: summary.machine.get(figure)


def _growth_cost(row: TrialRow, summary: TelemetrySummary) -> float | None:
    """Return 0 for a trial whose page cache hardly grew."""
    if "cache_growth_kB/s" not in summary.machine:
        return None
    return summary.machine.get("cache_growth_ms/MiB", 0.0)


def _stalled(row: TrialRow, summary: TelemetrySummary) -> float | None:
    known = [summary.devices.get(device, {}).get("%stalled") for device in row.devices]
    return max((share for share in known if share is not None), default=None)


def _foreign_io(row: TrialRow, summary: TelemetrySummary) -> float | None:
    """Return MiB/s. The share of the workload's own bytes would grow with a slower workload."""
    own_bytes = (row.figures or {}).get(BYTES)
    if own_bytes is None or FOREIGN_FIGURE not in summary.machine:
        return None
    return summary.machine[FOREIGN_FIGURE] / 100 * own_bytes / KIB / KIB / summary.seconds


INDICATORS = (
    Indicator(NoiseCause.STEAL, _machine("%steal"), "{} to {} % of the CPU time"),
    Indicator(NoiseCause.WRITEBACK, _machine("%throttled"), "writers paused {} to {} % of a trial"),
    Indicator(
        NoiseCause.FIRST_TOUCH,
        _growth_cost,
        "{} to {} ms of system time per MiB of page cache from free memory",
    ),
    Indicator(NoiseCause.DEVICE_STALLS, _stalled, "{} to {} % of a trial without completions"),
    Indicator(NoiseCause.FOREIGN_CPU, _machine("foreign_%cpu"), "{} to {} % of a core"),
    Indicator(NoiseCause.FOREIGN_IO, _foreign_io, "{} to {} MiB/s"),
)
"""The indicators that one trial gives; the others need all trials of a workload."""
_FREQUENCY = Indicator(NoiseCause.FREQUENCY, _machine("MHz"), "{} to {} MHz", sign=-1)
_THROTTLING = Indicator(
    NoiseCause.THROTTLING, _machine("MHz"), "{} to {} MHz with thermal throttling", sign=-1
)
_TOKEN_BUCKET = Indicator(
    NoiseCause.TOKEN_BUCKET, lambda row, summary: None, "{} to {} % of a trial at the floor"
)


def decompose_noise(
    study: Study, workload: WorkloadRequest, rows: Sequence[TrialRow]
) -> NoiseDecomposition | None:
    """Decompose a workload's noise by its counted trials; None without any trial.

    The noise is what remains without block and configuration effects, as in paired log-ratios.
    """
    counted = [row for row in rows if row.workload == workload.label and row.counts and row.summary]
    if not counted:
        return None
    values = collect_figures(study, rows)
    blocks = common_blocks(values, {workload.label})
    labels = [configuration.label for configuration in study.configurations()]
    table = _TrialTable(blocks, labels, counted)
    figures = workload_log_figures(study, workload, values, blocks)
    # The value of each indicator by trial, NaN if unknown.
    indicators = (*INDICATORS, _THROTTLING if _is_throttled(counted) else _FREQUENCY)
    columns = [(indicator, _column(indicator.value, counted)) for indicator in indicators]
    columns.insert(0, (_TOKEN_BUCKET, find_floor_shares(counted)))
    known = [pair for pair in columns if table.is_useful(pair[1])]
    matrices = [table.matrix(indicator.sign * column) for indicator, column in known]
    positions = table.matrix(np.array([row.started_at for row in counted]))
    shares = measure_variance_shares(figures, matrices, positions)
    return NoiseDecomposition(
        workload=workload.label,
        trials=len(counted),
        contributions=tuple(_contribution(*known[share.index], share, counted) for share in shares),
        examined=tuple(indicator.cause for indicator, _ in known),
    )


def _column(value: Value, rows: Sequence[TrialRow]) -> Array:
    values = [value(row, row.summary) if row.summary else None for row in rows]
    return np.array(values, dtype=np.float64)


def _is_throttled(rows: Sequence[TrialRow]) -> bool:
    """Return whether the frequency was lower in trials with more thermal throttling events."""
    events, mhz = (_column(_machine(figure), rows) for figure in ("throttles", "MHz"))
    known = np.isfinite(events) & np.isfinite(mhz)
    if not known.any() or min(np.ptp(events[known]), np.ptp(mhz[known])) == 0:
        return False
    return bool(np.corrcoef(events[known], mhz[known])[0, 1] <= _THROTTLING_CORRELATION)


@dataclass(frozen=True)
class _TrialTable:
    """The blocks and configurations of the trials ``rows``."""

    blocks: Sequence[int]
    labels: Sequence[str]
    rows: Sequence[TrialRow]

    def matrix(self, column: Array) -> Array:
        """Return the values of the trials by block and configuration."""
        values = np.full((len(self.blocks), len(self.labels)), np.nan)
        for row, value in zip(self.rows, column, strict=True):
            values[self.blocks.index(row.block), self.labels.index(row.configuration)] = value
        return values

    def is_useful(self, column: Array) -> bool:
        """Return whether it is known of most trials and varies."""
        known = column[np.isfinite(column)]
        return len(known) >= _KNOWN_SHARE * len(column) and bool(np.ptp(known) > 0)


def _contribution(
    indicator: Indicator, column: Array, share: VarianceShare, rows: Sequence[TrialRow]
) -> NoiseContribution:
    known = np.isfinite(column)
    contribution = NoiseContribution(
        indicator, share, float(column[known].min()), float(column[known].max())
    )
    if indicator.cause not in _USED:
        return contribution
    times = np.array([row.started_at for row in rows])
    return replace(
        contribution,
        process=_busiest_process(rows, _USED[indicator.cause]),
        period_seconds=find_period(times[known], column[known]),
    )


_USED: dict[NoiseCause, Callable[[TelemetrySummary], Iterator[tuple[str, float]]]] = {
    NoiseCause.FOREIGN_CPU: lambda summary: ((p.name, p.cpu_seconds) for p in summary.foreign),
    NoiseCause.FOREIGN_IO: lambda summary: ((s.name, s.kB) for s in summary.submitters),
}
"""The use of each foreign process: CPU seconds or kB, by the cause of noise."""


def _busiest_process(
    rows: Sequence[TrialRow], used: Callable[[TelemetrySummary], Iterator[tuple[str, float]]]
) -> str:
    """Return the name of the processes with most use over all trials; "" if none is known."""
    total: defaultdict[str, float] = defaultdict(float)
    for row in rows:
        for name, amount in used(row.summary) if row.summary else ():
            total[name] += amount
    name = max(total, key=total.__getitem__, default="")
    return name if name and total[name] > 0 else ""


_MIN_DROPS = 3
"""Trials that must reach the floor on the way: fewer may agree by chance."""
_CLEAR = 30.0
"""Percent of a trial on its floor, from which on the floor's rate is exact."""
_NEAR = 0.1
"""Relative distance up to which rates count as the same floor, as a limiter's are constant."""
_AGREEING = 0.75
"""Share of the clear drops that must end on the common floor."""
_ABOVE = 1.4
"""Rates up to so many times the floor belong to it: a part of the burst may be among them."""


def find_floor_shares(rows: Sequence[TrialRow]) -> Array:
    """Return the percentage of each trial on the common floor; all 0 without one.

    NaN for a trial whose samples were too few to know.
    """
    devices = [row.summary.devices.get(row.device, {}) if row.summary else {} for row in rows]
    known = np.array(["%stalled" in device for device in devices])
    floors = np.array([device.get("floor_kB/s", np.nan) for device in devices])
    on_the_way = np.array([device.get("%floor", 0.0) for device in devices])
    common = _common_floor(floors[on_the_way >= _CLEAR])
    shares = np.zeros(len(rows))
    if common is not None:
        means = np.array([disk.get("rkB/s", 0.0) + disk.get("wkB/s", 0.0) for disk in devices])
        rates = np.where(np.isnan(floors), means, floors)
        is_on_floor = (rates >= (1 - _NEAR) * common) & (rates <= _ABOVE * common)
        shares = np.where(is_on_floor, np.where(np.isnan(floors), 100.0, on_the_way), 0.0)
    return np.where(known, shares, np.nan)


def _common_floor(floors: Array) -> float | None:
    """Return the floor in kB/s on which nearly all drops end; None without one."""
    if len(floors) < _MIN_DROPS:
        return None
    common = float(np.median(floors))
    is_near = np.abs(floors - common) <= _NEAR * common
    return common if float(is_near.mean()) >= _AGREEING else None
