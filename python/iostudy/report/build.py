"""Report of a study from its ledger rows (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import JsonValue

from iostudy.analysis.series import FamilyOfTests
from iostudy.analysis.slow_runs import SlowRuns
from iostudy.ledger.rows import MeasuredRow
from iostudy.report.base import (
    FigureDescription,
    GivenUpWorkloadReport,
    State,
    Step,
    build_span,
    finite,
)
from iostudy.report.formatting import describe_bounds, describe_given_up, describe_stop
from iostudy.report.names import find_baseline_label, find_single_factor, find_study_noun
from iostudy.report.recorded_study import RecordedStudy
from iostudy.report.topics.block_latency import build_block_latency
from iostudy.report.topics.bottlenecks import (
    BottleneckReport,
    DisturbanceReport,
    build_bottlenecks,
    build_disturbances,
    diagnose_trials,
)
from iostudy.report.topics.caveats import (
    add_flags,
    add_imbalance,
    add_rate_limits,
    compute_shared_level,
)
from iostudy.report.topics.configurations import build_configurations
from iostudy.report.topics.covariates import (
    CovariateReport,
    CovariateValues,
    build_covariates,
    covariate_values,
    window_covariate_values,
)
from iostudy.report.topics.directories import build_directories
from iostudy.report.topics.headline import build_headline
from iostudy.report.topics.measurements import build_measurements, describe_figure
from iostudy.report.topics.method import build_method, list_reproduction_steps
from iostudy.report.topics.next_steps import suggest_next_steps
from iostudy.report.topics.noise import build_noise_decompositions, build_workload_power
from iostudy.report.topics.prediction import EXPLANATION, PREDICTED, add_errors, build_prediction
from iostudy.report.topics.ranking import RankingReport, build_ranking
from iostudy.report.topics.reference import build_reference
from iostudy.report.topics.remedies import (
    explain_all_workloads,
    explain_equivalence,
    explain_rate_limit,
    suggest_remedies,
    varies_device_settings_only,
)
from iostudy.report.topics.scaling import ScalingReport, build_scaling, describe_crossings
from iostudy.report.topics.screening import ScreeningReport, build_screening
from iostudy.report.topics.sentences import (
    build_context,
    build_predicate,
    build_sentences,
    summarize_workloads,
)
from iostudy.report.topics.switchback import (
    SwitchbackReport,
    build_switchback,
    describe_disagreements,
    suggest_whole_trials,
)
from iostudy.report.topics.telemetry import build_telemetry, find_tested_device
from iostudy.report.topics.together import build_together
from iostudy.report.topics.trials import TrialReport, build_trials
from iostudy.report.topics.verdicts import Result, SlowRunsReport, list_verdicts
from iostudy.report.topics.volumes import build_volume
from iostudy.report.values import GuardReport, Report, WorkloadReport
from iostudy.results.comparisons import (
    ComparisonResult,
    Run,
    collect_runs,
    compare_configurations,
    exclude_guards,
    select_figures,
)
from iostudy.results.continuation import estimate_continuation
from iostudy.results.rate_limit import find_limited
from iostudy.results.recommendation import is_met_guard, list_candidates
from iostudy.study.mode import Mode, find_mode
from iostudy.study.model import Study, WorkloadRequest
from iostudy.telemetry.modelled_drives import describe_lateness
from iostudy.workloads import catalog
from iostudy.workloads.definition import Figure
from iostudy.workloads.option_text import format_options


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
        scaling=tuple(build_scaling(study, trials)),
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


def build_workloads(
    recorded: RecordedStudy,
    compared: Sequence[ComparisonResult],
    limited: Sequence[BottleneckReport],
) -> tuple[tuple[WorkloadReport, ...], tuple[CovariateReport, ...]]:
    """Build every workload with its flags, and its covariates, whose tests share their level."""
    study = recorded.study
    values = _covariate_values(recorded)
    shared = compute_shared_level(study, values)
    found = _workloads(study, compared, recorded.measured, shared)
    reports = build_covariates(study, values, found, shared)
    at_limit = find_limited(recorded.trials)
    flagged = (add_rate_limits(each, study.baseline.label, at_limit) for each in found)
    explained = (_explained(study, each, limited) for each in flagged)
    return tuple(add_imbalance(each, reports) for each in explained), reports


def _covariate_values(recorded: RecordedStudy) -> tuple[CovariateValues, ...]:
    """Return the covariates of what decides: windows, or trials where the study has none."""
    if find_mode(recorded.study) is Mode.WINDOWS and recorded.samples is not None:
        return window_covariate_values(recorded.study, recorded.switchback, recorded.samples)
    return covariate_values(recorded.study, recorded.trials)


def _workloads(
    study: Study,
    found: Sequence[ComparisonResult],
    rows: Sequence[MeasuredRow],
    shared: FamilyOfTests,
) -> tuple[WorkloadReport, ...]:
    """Every workload with its results and all else that was measured."""
    runs = collect_runs(study, rows)
    texts = (
        _workload(
            study,
            request,
            [result for result in found if result.workload == request.label],
            runs.get((request.label, study.baseline.label), {}),
        )
        for request in study.workloads
    )
    return tuple(
        add_flags(
            workload.model_copy(update=build_measurements(study, request, rows)),
            study,
            rows,
            shared,
        )
        for request, workload in zip(study.workloads, texts, strict=True)
    )


def _workload(
    study: Study,
    request: WorkloadRequest,
    compared: Sequence[ComparisonResult],
    alone: Mapping[int, Run],
) -> WorkloadReport:
    definition = catalog.get(request.name)
    decides, *guards = (_figure_results(study, each, compared, alone) for each in request.figures)
    figure, results = decides
    return WorkloadReport(
        label=request.label,
        name=request.name,
        models=definition.models,
        leaves_out=definition.not_modelled,
        options=format_options(request.options),
        figure=figure,
        results=results,
        guards=tuple(GuardReport(figure=own, results=found) for own, found in guards),
        noise=build_workload_power(study, request.label, exclude_guards(compared)),
        answer=build_sentences(
            {request.label: build_predicate(results, figure, build_context(study))}
        )[0],
    )


def _figure_results(
    study: Study, figure: Figure, compared: Sequence[ComparisonResult], alone: Mapping[int, Run]
) -> tuple[FigureDescription, tuple[Result, ...]]:
    """The results by one figure of a workload, the baseline first."""
    own = [result for result in compared if result.figure == figure]
    values = list(select_figures(alone, figure.name).values())
    baseline = _baseline(find_baseline_label(study), own, values)
    if study.design is not None:
        own.sort(key=lambda each: -abs(finite(each.comparison.estimate) or 0.0))
    return describe_figure(figure), (baseline, *(_result(study, result) for result in own))


def _explained(
    study: Study,
    workload: WorkloadReport,
    limited: Sequence[BottleneckReport],
) -> WorkloadReport:
    """Return the workload with the reason for equivalence, if there is one."""
    own = {
        bottleneck.configuration: bottleneck
        for bottleneck in limited
        if bottleneck.workload == workload.label
    }
    why = explain_rate_limit(workload.results) or explain_equivalence(
        workload.results,
        own,
        find_single_factor(study),
        device_settings_only=varies_device_settings_only(study),
    )
    return workload.model_copy(update={"explanation": why})


def _baseline(label: str, compared: Sequence[ComparisonResult], alone: Sequence[float]) -> Result:
    """The baseline runs in every block, so the longest comparison holds all of its values."""
    longest = max(compared, key=lambda result: result.comparison.blocks, default=None)
    if longest is None:
        mean = math.exp(math.fsum(map(math.log, alone)) / len(alone)) if alone else None
        return Result(configuration=label, baseline=True, blocks=len(alone), value=mean)
    blocks, value = longest.comparison.blocks, finite(longest.baseline_mean)
    slow = _slow_runs(longest.comparison.baseline_slow)
    return Result(configuration=label, baseline=True, blocks=blocks, value=value, slow=slow)


def _result(study: Study, result: ComparisonResult) -> Result:
    comparison = result.comparison
    return Result(
        configuration=result.configuration,
        baseline=False,
        bound=result.bound,
        blocks=comparison.blocks,
        value=finite(result.mean),
        change=finite(comparison.change),
        interval=build_span(comparison.change_interval),
        verdict=comparison.verdict,
        by_margin=comparison.by_margin,
        fragile=comparison.fragile,
        futile=comparison.futile,
        blocks_needed=comparison.blocks_needed,
        slow=_slow_runs(comparison.slow),
        not_worse=result.meets_guard,
        guarded=is_met_guard(study, result),
    )


def _slow_runs(found: SlowRuns | None) -> SlowRunsReport | None:
    if found is None:
        return None
    return SlowRunsReport(slow=found.slow, runs=found.runs, at_most=found.bound)
