"""Report of a study from its ledger rows (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import JsonValue

from iostudy.report.build_trials import build_trials
from iostudy.report.build_workloads import build_workloads
from iostudy.report.formatting import describe_bounds, describe_given_up, describe_stop
from iostudy.report.prediction import EXPLANATION, PREDICTED
from iostudy.report.recorded_study import RecordedStudy
from iostudy.report.topics.block_latency.build import build_block_latency
from iostudy.report.topics.bottlenecks.build import (
    build_bottlenecks,
    build_disturbances,
    diagnose_trials,
)
from iostudy.report.topics.bottlenecks.explain_equivalence import explain_all_workloads
from iostudy.report.topics.bottlenecks.remedies import suggest_remedies
from iostudy.report.topics.bottlenecks.telemetry import build_telemetry, find_tested_device
from iostudy.report.topics.bottlenecks.values import BottleneckReport, DisturbanceReport
from iostudy.report.topics.covariates.values import CovariateReport, GivenUpWorkloadReport
from iostudy.report.topics.directories.build import build_directories
from iostudy.report.topics.noise.causes import build_noise_decompositions
from iostudy.report.topics.prediction.build import add_errors, build_prediction
from iostudy.report.topics.ranking.build import build_ranking
from iostudy.report.topics.ranking.values import RankingReport
from iostudy.report.topics.reference.build import build_reference
from iostudy.report.topics.scaling.build import build_scaling
from iostudy.report.topics.scaling.text import describe_crossings
from iostudy.report.topics.scaling.values import ScalingReport
from iostudy.report.topics.screening.build import build_screening
from iostudy.report.topics.screening.values import ScreeningReport
from iostudy.report.topics.switchback.build import build_switchback
from iostudy.report.topics.switchback.confirmation import (
    describe_disagreements,
    suggest_whole_trials,
)
from iostudy.report.topics.switchback.values import SwitchbackReport
from iostudy.report.topics.together.build import build_together
from iostudy.report.topics.verdicts.answer import (
    build_context,
    build_sentences,
    find_baseline_label,
    find_study_noun,
    summarize_workloads,
)
from iostudy.report.topics.verdicts.configurations import build_configurations
from iostudy.report.topics.verdicts.figure_verdicts import list_verdicts
from iostudy.report.topics.verdicts.headline import build_headline
from iostudy.report.topics.verdicts.method import build_method, list_reproduction_steps
from iostudy.report.topics.verdicts.names import find_single_factor
from iostudy.report.topics.verdicts.next_steps import suggest_next_steps
from iostudy.report.topics.volumes.build import build_volume
from iostudy.report.trials import TrialReport
from iostudy.report.values import Report, State, Step, WorkloadReport
from iostudy.results.comparisons import ComparisonResult, compare_configurations
from iostudy.results.continuation import estimate_continuation
from iostudy.results.recommendation import list_candidates
from iostudy.study.model import Study
from iostudy.telemetry.modelled_drives import describe_lateness


def build_report(recorded: RecordedStudy) -> Report:
    """Build the report of a recorded study.

    Windows decide in place of trials, if the study has any; its trials are then those of the
    confirmation. Commands in the report name the folder ``recorded.place``.
    """
    return _assemble(recorded, _analyze(recorded))


@dataclass(frozen=True)
class _Analysis:
    """Analyses that several fields of a report use."""

    comparisons: Sequence[ComparisonResult]
    workloads: tuple[WorkloadReport, ...]
    covariates: tuple[CovariateReport, ...]
    bottlenecks: tuple[BottleneckReport, ...]
    disturbances: tuple[DisturbanceReport, ...]
    trials: tuple[TrialReport, ...]
    windows: tuple[SwitchbackReport, ...]
    ranking: RankingReport | None
    screening: ScreeningReport | None
    scaling: tuple[ScalingReport, ...]


def _analyze(recorded: RecordedStudy) -> _Analysis:
    study, trials, measured = recorded.study, recorded.trials, recorded.measured
    comparisons = compare_configurations(study, measured)
    diagnoses = diagnose_trials(study, recorded.row.circumstances, trials)
    bottlenecks = build_bottlenecks(study, trials, diagnoses, recorded.samples)
    workloads, covariates = build_workloads(recorded, comparisons, bottlenecks)
    return _Analysis(
        comparisons=comparisons,
        workloads=workloads,
        covariates=covariates,
        bottlenecks=bottlenecks,
        disturbances=build_disturbances(study, trials, diagnoses),
        trials=build_trials(study, trials, diagnoses),
        windows=tuple(
            build_switchback(
                study,
                recorded.switchback,
                comparisons,
                trials,
                recorded.row.circumstances,
                recorded.samples,
            )
        ),
        ranking=build_ranking(study, measured),
        screening=build_screening(study, trials),
        scaling=build_scaling(study, trials),
    )


def _assemble(recorded: RecordedStudy, found: _Analysis) -> Report:
    study, row, trials = recorded.study, recorded.row, recorded.trials
    prediction = build_prediction(study)
    return Report(
        name=study.name,
        question=study.question,
        state=_state(study, found.workloads),
        headline=_headline(study, found),
        next_steps=tuple(_next_steps(recorded, found)),
        answer=tuple(_answer(recorded, found)),
        noun=find_study_noun(study),
        factor=find_single_factor(study),
        baseline=find_baseline_label(study),
        configurations=build_configurations(study, trials, recorded.switchback.runs),
        ranking=found.ranking,
        screening=found.screening,
        curves=found.scaling,
        workloads=add_errors(found.workloads, prediction),
        prediction=prediction,
        switchback=found.windows,
        trials=found.trials,
        telemetry=build_telemetry(study, trials),
        limits=found.bottlenecks,
        disturbed=found.disturbances,
        covariates=found.covariates,
        volume=build_volume(study, row.circumstances, trials),
        directories=build_directories(study, row.circumstances),
        together=build_together(study, trials),
        noise_causes=build_noise_decompositions(study, trials),
        given_up=tuple(GivenUpWorkloadReport(**asdict(own)) for own in recorded.given_up),
        block_requests=build_block_latency(study, trials),
        device=find_tested_device(recorded.runs),
        notes=tuple(_notes(recorded)),
        reference=build_reference(study, trials),
        method=build_method(study, row.seed, found.trials),
        reproduce=list_reproduction_steps(study, row),
        study_text=row.text,
        circumstances=_plain_mapping(row.circumstances),
        root=row.root,
        started_at=row.started_at,
        iostudy_version=row.iostudy_version,
    )


def _headline(study: Study, found: _Analysis) -> str:
    """Return the first disagreement of trials with windows, otherwise the verdicts."""
    disagreements = describe_disagreements(found.windows, find_single_factor(study))
    headline = next(disagreements, "") or _verdict_headline(study, found)
    return f"{PREDICTED}: {headline}" if study.target.predicts else headline


def _verdict_headline(study: Study, found: _Analysis) -> str:
    if found.screening:
        return found.screening.answer
    why = explain_all_workloads(found.workloads, found.bottlenecks)
    candidates = list_candidates(study, found.comparisons)
    return build_headline(found.workloads, build_context(study), candidates, why)


def _next_steps(recorded: RecordedStudy, found: _Analysis) -> Iterator[Step]:
    study = recorded.study
    yield from suggest_whole_trials(found.windows)
    continuation = estimate_continuation(
        study, found.comparisons, recorded.trials, recorded.switchback.windows
    )
    yield from suggest_next_steps(
        study, recorded.row, found.comparisons, recorded.place, continuation
    )
    yield from suggest_remedies(study, found.workloads, found.bottlenecks, found.disturbances)


def _answer(recorded: RecordedStudy, found: _Analysis) -> Iterator[str]:
    study, workloads = recorded.study, found.workloads
    if study.target.predicts:
        yield EXPLANATION
    if disagreements := list(describe_disagreements(found.windows, find_single_factor(study))):
        yield from disagreements[1:]
        yield _verdict_headline(study, found)
    yield from summarize_workloads(workloads, build_context(study))
    yield from build_sentences(
        {workload.label: workload.explanation for workload in workloads if workload.explanation}
    )
    for own in found.scaling:
        yield from describe_crossings(own, find_single_factor(study))
    if found.ranking:
        yield found.ranking.answer
    yield from map(describe_given_up, recorded.given_up)
    if _state(study, workloads) is not State.COMPLETE:
        yield describe_stop(recorded.time_limit_seconds)


def _notes(recorded: RecordedStudy) -> Iterator[str]:
    """Yield the notes of the study, and those of its runs, each once."""
    yield from describe_bounds(recorded.study.bounds)
    yield from recorded.study.notes
    yield from dict.fromkeys(note for row in recorded.runs for note in row.notes)
    counted = (row.summary for row in recorded.trials if row.counts and row.summary)
    if lateness := describe_lateness(counted):
        yield lateness


def _state(study: Study, workloads: Sequence[WorkloadReport]) -> State:
    """A single configuration has nothing to decide and runs all its blocks."""
    verdicts = list_verdicts(workloads)
    results = [r for each in verdicts for r in (each.results[1:] or each.results)]
    settled = all(result.has_ended(study.decide.max_blocks) for result in results)
    return State.COMPLETE if settled else State.STOPPED


def _plain_mapping(value: Mapping[str, Any]) -> dict[str, JsonValue]:
    return {str(key): _plain(item) for key, item in value.items()}


def _plain(value: Any) -> JsonValue:
    """A JSON value in which no number is infinite or not a number."""
    if isinstance(value, Mapping):
        return _plain_mapping(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int) else str(value)
