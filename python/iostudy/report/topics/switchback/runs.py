"""Telemetry of the runs of a switchback study as values of the report (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from iostudy.diagnosis.context import OperatingPoint, collect_operating_points
from iostudy.diagnosis.diagnose import diagnose
from iostudy.errors import LedgerError
from iostudy.ledger.rows import NO_SAMPLES, RunRow, SwitchbackRows
from iostudy.ledger.samples import ReadSamples
from iostudy.report.topics.bottlenecks.diagnosis import build_diagnosis
from iostudy.report.topics.bottlenecks.trial_context import build_trial_context
from iostudy.report.topics.switchback.values import RunReport
from iostudy.study.model import Study, WorkloadRequest
from iostudy.study.requests import apply_configuration
from iostudy.telemetry.covariates import compute_covariates
from iostudy.telemetry.window_covariates import WINDOW_COLUMNS


def build_runs(
    study: Study,
    request: WorkloadRequest,
    circumstances: Mapping[str, Any],
    rows: SwitchbackRows,
    samples: ReadSamples | None,
) -> tuple[RunReport, ...]:
    """Describe every run of a workload."""
    runs = rows.by_run(request.label)
    points = collect_operating_points(run.summary for run, _ in runs)
    return tuple(
        _describe(study, request, circumstances, run, points).model_copy(
            update={"windows": len(windows), "notes": (*run.notes, *_list_problems(run, samples))}
        )
        for run, windows in runs
    )


def _list_problems(run: RunRow, samples: ReadSamples | None) -> Iterator[str]:
    """Yield why the samples of a run, and so the covariates of its windows, are missing."""
    if samples is None or run.telemetry == NO_SAMPLES:
        return
    try:
        samples(run.telemetry, WINDOW_COLUMNS[:1])
    except LedgerError as error:
        yield f"no covariates by configuration: {error.where}: {error.found}"


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
