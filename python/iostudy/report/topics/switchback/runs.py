"""Telemetry of the runs of a switchback study as values of the report (pure)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from iostudy.diagnosis.context import OperatingPoint, collect_operating_points
from iostudy.diagnosis.diagnose import diagnose
from iostudy.ledger.rows import RunRow, WindowRow
from iostudy.report.topics.bottlenecks.diagnosis import build_diagnosis
from iostudy.report.topics.bottlenecks.trial_context import build_trial_context
from iostudy.report.topics.switchback.values import RunReport
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.requests import apply_configuration
from iostudy.telemetry.covariates import compute_covariates


def build_runs(
    study: Study,
    request: WorkloadRequest,
    circumstances: Mapping[str, Any],
    runs: Sequence[RunRow],
    windows: Sequence[WindowRow],
) -> tuple[RunReport, ...]:
    """Describe every run of a workload; ``windows`` are those of the workload.

    The first one is that of the pilot. Windows of a run that failed have no run.
    """
    own = [run for run in runs if run.workload == request.label]
    points = collect_operating_points(run.summary for run in own)
    return tuple(
        _describe(study, request, circumstances, run, points).model_copy(
            update={"windows": _count_windows(own, place, windows)}
        )
        for place, run in enumerate(own)
    )


def _count_windows(runs: Sequence[RunRow], place: int, windows: Sequence[WindowRow]) -> int:
    if place == 0:
        return 0
    end = runs[place + 1].started_at if place + 1 < len(runs) else math.inf
    return sum(runs[place].started_at <= row.start < end for row in windows)


def _describe(
    study: Study,
    request: WorkloadRequest,
    circumstances: Mapping[str, Any],
    run: RunRow,
    points: Mapping[str, tuple[OperatingPoint, ...]],
) -> RunReport:
    """The run has no figures of its own: each window has."""
    options = apply_configuration(request, study.baseline)
    context = build_trial_context(
        circumstances, run.devices, request.name, options, points, figures={}
    )
    return RunReport(
        windows=0,
        started_at=run.started_at,
        seconds=run.summary.seconds,
        shares=compute_covariates(run.summary),
        diagnosis=build_diagnosis(diagnose(run.summary, context)),
        notes=run.notes,
    )
