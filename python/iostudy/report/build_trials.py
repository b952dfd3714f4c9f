"""Values of all trials (pure)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iostudy.analysis.slow_runs import is_slow
from iostudy.ledger.rows import TrialRow
from iostudy.report.finite import finite, finite_values, round_values
from iostudy.report.topics.bottlenecks.build import Diagnoses
from iostudy.report.trials import TrialReport
from iostudy.results.comparisons import collect_runs
from iostudy.study.model import Study
from iostudy.telemetry.summary import TelemetrySummary

_NOTHING = TelemetrySummary(0.0, {}, {})
"""Telemetry of a trial that did not end."""


def build_trials(
    study: Study, rows: Sequence[TrialRow], found: Diagnoses
) -> tuple[TrialReport, ...]:
    """Build the values of all trials, in the order of ``rows``: run order."""
    slow = _slow_trials(study, rows)
    figures = {workload.label: workload.figure.name for workload in study.workloads}
    summaries = [row.summary or _NOTHING for row in rows]
    return tuple(
        TrialReport(
            number=number,
            block=row.block,
            attempt=row.attempt,
            position=row.position,
            workload=row.workload,
            configuration=row.configuration,
            status=row.status,
            reason=row.reason,
            counts=row.counts,
            slow=row.counts and (row.workload, row.configuration, row.block) in slow,
            started_at=row.started_at,
            value=finite((row.figures or {}).get(figures[row.workload])),
            figures=finite_values(row.figures),
            settings=dict(row.settings or {}),
            device=row.device,
            devices={name: round_values(figures) for name, figures in own.devices.items()},
            machine=round_values(own.machine),
            phases=round_values(row.phases),
            limit=found[row.id].limit if row.id in found else None,
            notes=row.notes,
            telemetry=row.telemetry.name,
        )
        for number, (row, own) in enumerate(zip(rows, summaries, strict=True), start=1)
    )


def _slow_trials(study: Study, rows: Sequence[TrialRow]) -> set[tuple[str, str, int]]:
    """Return (workload, configuration, block) of the counted trials that are slow or failed."""
    signs = {w.label: 1 if w.figure.higher_is_better else -1 for w in study.workloads}
    found = set[tuple[str, str, int]]()
    for (workload, configuration), runs in collect_runs(study, rows).items():
        blocks, figures = list(runs), np.array([run.figure for run in runs.values()])
        x = np.where(np.isnan(figures), -np.inf, signs[workload] * np.log(figures))
        slow = np.flatnonzero(is_slow(x, study.decide.margin))
        found |= {(workload, configuration, blocks[index]) for index in slow}
    return found
