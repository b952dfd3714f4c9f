"""Report of a study from its ledger rows (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from iostudy.ledger.rows import TrialStatus
from iostudy.report.base import State, Step
from iostudy.report.formatting import (
    describe_given_up,
    find_baseline_label,
    find_single_factor,
    find_study_noun,
)
from iostudy.report.plugin_topics import TopicValue, list_topics
from iostudy.report.topics import (
    block_latency,
    bottlenecks,
    caveats,
    configurations,
    covariates,
    directories,
    measurements,
    method,
    next_steps,
    noise,
    ranking,
    reference,
    scaling,
    sentences,
    switchback,
    telemetry,
    trials,
    verdicts,
    volumes,
)
from iostudy.report.topics.bottlenecks import BottleneckReport
from iostudy.report.topics.covariates import CovariateReport
from iostudy.report.topics.verdicts import Result
from iostudy.report.values import GuardReport, Report, WorkloadReport, report_type
from iostudy.results.comparisons import (
    ComparisonResult,
    collect_runs,
    compare_configurations,
    describe_failed_side,
    exclude_guards,
    rank_configurations,
)
from iostudy.results.continuation import estimate_continuation
from iostudy.results.covariates import covariate_values, window_covariate_values
from iostudy.results.recommendation import list_candidates
from iostudy.results.recorded_study import RecordedStudy
from iostudy.study.mode import find_mode
from iostudy.study.model import WorkloadRequest
from iostudy.units import format_seconds
from iostudy.workloads import catalog
from iostudy.workloads.definition import Figure
from iostudy.workloads.option_text import format_options


def build_report(recorded: RecordedStudy) -> Report:
    """Build the report of a recorded study.

    Windows decide in place of trials, if the study has any; its trials are then those of the
    confirmation. Commands in the report name the folder ``recorded.place``.
    """
    study, row, rows = recorded.study, recorded.row, recorded.trials
    circumstances = row.circumstances
    compared = compare_configurations(study, recorded.measured)
    order = rank_configurations(study, recorded.measured)
    diagnoses = bottlenecks.diagnose_trials(study, circumstances, rows)
    limits = bottlenecks.build_bottlenecks(study, rows, diagnoses, recorded.samples)
    computed = {name: topic.compute(study, rows) for name, topic in list_topics().items()}
    of_plugins = [value for value in computed.values() if value is not None]
    workloads, shares = build_workloads(recorded, compared, limits, of_plugins)
    runs = trials.build_trials(study, rows, diagnoses)
    has_ended = all(
        result.has_ended(study.decide.max_blocks)
        for table in verdicts.list_verdicts(workloads)
        # A single configuration has nothing to decide and runs all its blocks.
        for result in table.results[1:] or table.results
    )
    report = report_type().copy_from(
        row,
        name=study.name,
        question=study.question,
        state=State.COMPLETE if has_ended else State.STOPPED,
        headline="",
        next_steps=(),
        answer=(),
        noun=find_study_noun(study),
        factor=find_single_factor(study),
        baseline=find_baseline_label(study),
        configurations=tuple(
            configurations.build_configurations(study, rows, recorded.switchback.runs)
        ),
        ranking=ranking.build_ranking(study, order),
        curves=tuple(scaling.build_scaling(study, recorded.measured, order)),
        workloads=workloads,
        switchback=tuple(switchback.build_switchback(recorded, compared)),
        trials=runs,
        telemetry=tuple(telemetry.build_telemetry(study, rows)),
        limits=limits,
        disturbed=tuple(bottlenecks.build_disturbances(study, rows, diagnoses)),
        covariates=shares,
        volume=volumes.build_volume(study, circumstances, rows),
        directories=directories.build_directories(study, circumstances),
        noise_causes=noise.build_noise_decompositions(study, rows),
        given_up=recorded.given_up,
        block_requests=tuple(block_latency.build_block_latency(study, rows)),
        device=telemetry.find_tested_device(recorded.runs),
        notes=tuple(_notes(recorded)),
        reference=reference.build_reference(study, rows),
        method=method.build_method(study, row.seed, runs),
        reproduce=method.list_reproduction_steps(study, row),
        study_text=row.text,
    )
    report = report.model_copy(update=computed)
    verdict = _verdict_headline(recorded, report, compared)
    contradictions = list(switchback.describe_disagreements(report.switchback, report.factor))
    first = next(iter(contradictions), verdict)
    return report.model_copy(
        update={
            "headline": reduce(lambda text, topic: topic.qualify_headline(text), of_plugins, first),
            "next_steps": tuple(_next_steps(recorded, report, compared)),
            "answer": tuple(_answer(recorded, report, verdict, contradictions)),
        }
    )


def build_workloads(
    recorded: RecordedStudy,
    compared: Sequence[ComparisonResult],
    limits: Sequence[BottleneckReport],
    topics: Sequence[TopicValue] = (),
) -> tuple[tuple[WorkloadReport, ...], tuple[CovariateReport, ...]]:
    """Build every workload with its flags, and its covariates, whose tests share their level.

    ``topics`` of plugins know the errors of predicted figures.
    """
    study, rows = recorded.study, recorded.measured
    if find_mode(study).measures_windows and recorded.samples is not None:
        values = window_covariate_values(study, recorded.switchback, recorded.samples)
    else:
        values = covariate_values(study, recorded.trials)
    shared = caveats.compute_shared_level(study, values)
    reports = tuple(covariates.build_covariates(study, values, compared, shared))
    runs, context = collect_runs(study, rows), sentences.build_context(study)
    limited = caveats.find_limited(recorded.trials)
    tests = caveats.FlagTests(study, rows, runs, shared, limited, reports)

    def build_results(request: WorkloadRequest, figure: Figure) -> tuple[Result, ...]:
        of_workload = [result for result in compared if result.workload == request.label]
        alone = runs.get((request.label, study.baseline.label), {})
        return tuple(
            result.model_copy(
                update={
                    **tests.flag_result(request, figure, result),
                    "simulator_error": "".join(
                        topic.describe_error(result.configuration) for topic in topics
                    ),
                }
            )
            for result in verdicts.build_results(study, figure, of_workload, alone)
        )

    workloads = []
    for request in study.workloads:
        (figure, results), *guards = (
            (figure, build_results(request, figure)) for figure in request.figures
        )
        definition = catalog.get(request.name)
        predicate = sentences.build_predicate(results, figure, context)
        workload = WorkloadReport.copy_from(
            request,
            models=definition.models,
            leaves_out=definition.not_modelled,
            options=format_options(request.options),
            results=results,
            guards=tuple(GuardReport(figure=guard, results=other) for guard, other in guards),
            noise=noise.build_workload_power(study, request.label, exclude_guards(compared)),
            answer=sentences.build_sentences({request.label: predicate})[0],
            explanation=next_steps.explain(study, request.label, results, limits),
            flags=tests.flag_workload(request),
            **measurements.build_measurements(study, request, rows),
        )
        workloads.append(workload)
    return tuple(workloads), reports


def _verdict_headline(
    recorded: RecordedStudy, report: Report, compared: Sequence[ComparisonResult]
) -> str:
    for topic in report.topics:
        if headline := topic.find_headline():
            return headline
    if failed := describe_failed_side(compared):
        return f"{failed[0].upper()}{failed[1:]}: there is no figure to compare."
    why = next_steps.explain_all_workloads(report.workloads, report.limits)
    candidates = list_candidates(recorded.study, compared)
    context = sentences.build_context(recorded.study)
    disturbance = next(covariates.describe_disturbances(report.workloads, report.covariates), "")
    return sentences.build_headline(report.workloads, context, candidates, why, disturbance)


def _next_steps(
    recorded: RecordedStudy, report: Report, compared: Sequence[ComparisonResult]
) -> Iterator[Step]:
    study = recorded.study
    if any(switchback.describe_disagreements(report.switchback)):
        yield switchback.WHOLE_TRIALS
    continuation = estimate_continuation(
        study, compared, recorded.trials, recorded.switchback.windows
    )
    yield from next_steps.suggest_next_steps(
        study, recorded.row, compared, recorded.place, continuation
    )
    yield from next_steps.suggest_remedies(study, report.workloads, report.limits, report.disturbed)


def _answer(
    recorded: RecordedStudy, report: Report, verdict: str, contradictions: Sequence[str]
) -> Iterator[str]:
    yield from filter(None, (topic.explain() for topic in report.topics))
    if contradictions:
        yield from contradictions[1:]
        yield verdict
    yield from sentences.summarize_workloads(
        report.workloads, sentences.build_context(recorded.study)
    )
    yield from sentences.build_sentences(
        {w.label: w.explanation for w in report.workloads if w.explanation}
    )
    for curve in report.curves:
        yield from scaling.describe_crossings(curve, report.factor)
    if report.ranking:
        yield report.ranking.answer
    yield from map(describe_given_up, recorded.given_up)
    if report.state is not State.COMPLETE:
        limit = recorded.time_limit_seconds
        ended = "The study stopped"
        if limit is not None:
            ended = f"The time limit of {format_seconds(limit)} ended the study"
        if any(row.status is TrialStatus.STARTED for row in recorded.trials):
            yield "The study runs, or was killed: --resume continues a killed one."
        else:
            yield f"{ended} before every comparison had a verdict; --resume continues it."


def _notes(recorded: RecordedStudy) -> Iterator[str]:
    """Yield the notes of the study, and those of its runs, each once."""
    if bounds := "; ".join(recorded.study.bounds):
        yield f"bounds (limits of what is possible, neither ranked nor recommended): {bounds}"
    yield from recorded.study.notes
    yield from dict.fromkeys(note for row in recorded.runs for note in row.notes)
    counted = [row.summary for row in recorded.trials if row.counts and row.summary]
    yield from filter(None, (topic.describe(counted) for topic in list_topics().values()))
