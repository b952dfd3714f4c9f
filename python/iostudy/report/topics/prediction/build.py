"""Errors of the simulator for the configurations of a simulated study (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iostudy.report.topics.prediction.text import format_error
from iostudy.report.topics.prediction.values import PredictionErrorReport, PredictionReport
from iostudy.report.values import WorkloadReport
from iostudy.settings.definitions.queue import SCHEDULER
from iostudy.settings.values import AS_FOUND
from iostudy.study.combinations import Configuration
from iostudy.study.model import Study
from iostudy.study.simulated import DEFAULT_SCHEDULER
from iostudy.study.simulator_validation import Validation, load_validation
from iostudy.study.targets.drive import SimulatedTarget


def build_prediction(study: Study) -> PredictionReport | None:
    """Return the errors of this version's simulator; None for a measured study."""
    if not isinstance(study.target, SimulatedTarget):
        return None
    found, drive = load_validation(), study.target.model
    return PredictionReport(
        drive=drive,
        kernel=found.kernel,
        date=found.date,
        command=found.command,
        circumstances=found.circumstances,
        signs_decided=found.signs_decided,
        signs_right=found.signs_right,
        errors=tuple(_error(found, drive, own) for own in study.configurations()),
    )


def _error(found: Validation, drive: str, own: Configuration) -> PredictionErrorReport:
    level = own.settings.get(SCHEDULER.name, AS_FOUND)
    scheduler = DEFAULT_SCHEDULER if level == AS_FOUND else level
    rows = found.find(drive, scheduler)
    return PredictionErrorReport(
        configuration=own.label,
        scheduler=scheduler,
        workloads=len(rows),
        rate=max((abs(row.rate_error) for row in rows), default=None),
        p99=max((abs(row.p99_error) for row in rows), default=None),
        order=min((row.order for row in rows), default=None),
    )


def add_errors(
    workloads: Sequence[WorkloadReport], prediction: PredictionReport | None
) -> tuple[WorkloadReport, ...]:
    """Return the workloads with the simulator's error at each figure, if they are predicted."""
    if prediction is None:
        return tuple(workloads)
    texts = {own.configuration: format_error(own.rate) for own in prediction.errors}
    return tuple(_add_errors(workload, texts) for workload in workloads)


def _add_errors(workload: WorkloadReport, texts: Mapping[str, str]) -> WorkloadReport:
    results = tuple(
        own.model_copy(update={"simulator_error": texts.get(own.configuration, "")})
        for own in workload.results
    )
    return workload.model_copy(update={"results": results})
