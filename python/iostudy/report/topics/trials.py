"""Trials in run order, with their chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import FiniteFloat

from iostudy.analysis.slow_runs import is_slow
from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis
from iostudy.ledger.rows import TrialRow, TrialStatus
from iostudy.report.base import Known, Value
from iostudy.report.drawing import INK, Spec, encode_configuration, field, layer, make_chart
from iostudy.report.formatting import UNKNOWN, round_value, round_values
from iostudy.report.section import Chart
from iostudy.results.comparisons import collect_runs
from iostudy.study.model import Study
from iostudy.telemetry.summary import TelemetrySummary

if TYPE_CHECKING:
    from iostudy.report.values import Report, WorkloadReport


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
    value: Known
    """The figure that verdicts use; null if unknown."""
    figures: dict[str, Known]
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
    """File with the samples, below the output folder; empty without samples."""


def build_trials(
    study: Study, rows: Sequence[TrialRow], diagnoses: Mapping[int, Diagnosis]
) -> tuple[TrialReport, ...]:
    """Build the values of all trials, in the order of ``rows``: run order."""
    signs = {w.label: 1 if w.figure.higher_is_better else -1 for w in study.workloads}
    slow = set[tuple[str, str, int]]()
    for (workload, configuration), runs in collect_runs(study, rows).items():
        values = np.array([run.figure for run in runs.values()])
        x = np.where(np.isnan(values), -np.inf, signs[workload] * np.log(values))
        flags = is_slow(x, study.decide.margin)
        slow |= {(workload, configuration, block) for block in np.array(list(runs))[flags].tolist()}
    figures = {workload.label: workload.figure.name for workload in study.workloads}
    # A trial that did not end has no telemetry.
    summaries = [row.summary or TelemetrySummary(0.0, {}, {}) for row in rows]
    return tuple(
        TrialReport.copy_from(
            row,
            number=number,
            slow=row.counts and (row.workload, row.configuration, row.block) in slow,
            value=(row.figures or {}).get(figures[row.workload]),
            figures=row.figures or {},
            settings=row.settings or {},
            devices={name: round_values(values) for name, values in summary.devices.items()},
            machine=round_values(summary.machine),
            phases=round_values(row.phases),
            limit=diagnoses[row.id].limit if row.id in diagnoses else None,
            telemetry=row.telemetry.name,
        )
        for number, (row, summary) in enumerate(zip(rows, summaries, strict=True), start=1)
    )


def describe_trial(trial: TrialReport) -> str:
    """Describe why a trial does not count, failed or was slow; empty otherwise."""
    if trial.slow:
        return f"failed: {trial.reason}; counted" if trial.reason else "slow; counted"
    if trial.counts:
        return ""
    return trial.reason or "incomplete block"


def build_run_order_chart(workload: WorkloadReport, report: Report) -> Chart | None:
    """Return a chart of every trial in run order; None without figures.

    A trial that does not count is hollow and crossed out; one without a figure is a cross at
    the bottom. A slow run has a ring.
    """
    rows = [
        {
            "number": trial.number,
            "value": round_value(trial.value),
            "configuration": trial.configuration,
            "block": trial.block,
            "status": trial.status.value,
            "counts": trial.counts,
            "slow": trial.slow,
            "remark": describe_trial(trial) or UNKNOWN,
        }
        for trial in report.trials
        if trial.workload == workload.label
    ]
    without = [row for row in rows if row["value"] is None]
    if len(without) == len(rows):
        return None
    counted = [row for row in rows if row["value"] is not None and row["counts"]]
    left_out = [row for row in rows if row["value"] is not None and not row["counts"]]
    slow = [row for row in counted if row["slow"]]
    axis = {"tickMinStep": 1, "tickCount": 8, "format": "d", "grid": False}
    scale = {"nice": False, "padding": 8}
    x = field("number:Q", title="trial, in run order", axis=axis, scale=scale)
    title = f"{workload.figure.name}, {workload.figure.unit}"
    y = field("value:Q", title=title, scale={"zero": False})
    names = ("number:Q", "configuration:N", "block:Q", "value:Q", "status:N", "remark:N")
    tooltip = [field(name) for name in names]
    tooltip[3]["format"] = ".4r"
    colour, shape = encode_configuration(report)
    plain: Spec = {"x": x, "y": y, "tooltip": tooltip}
    coded = plain | {"color": colour, "shape": shape}
    layers = (
        layer(counted, "point", coded, filled=True, size=55, opacity=0.9),
        layer(left_out, "point", coded, filled=False, size=55),
        layer(left_out, "point", plain, **_CROSS),
        layer(slow, "point", plain, **_RING),
        layer(without, "point", plain | {"y": {"value": "height"}}, **_CROSS),
    )
    said = f"{workload.figure.name} of every trial in run order; the table below lists them"
    return Chart(make_chart(layers, height=230), said, _RUN_ORDER_LEGEND)


_RUN_ORDER_LEGEND = (
    "Hollow with a cross: not counted. Cross at the bottom: no figure. Ring: slow against "
    "the median of its configuration, counted."
)
_HOLLOW: dict[str, Any] = {"stroke": INK, "filled": False}
_CROSS = {
    "shape": "M-0.7,-0.7L0.7,0.7M-0.7,0.7L0.7,-0.7",
    **_HOLLOW,
    "strokeWidth": 1.5,
    "size": 90,
}
_RING = {"shape": "circle", **_HOLLOW, "strokeWidth": 1.2, "size": 220}
