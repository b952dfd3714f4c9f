"""Report of a study from its ledger rows (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pydantic import JsonValue

from iostudy.analysis.outliers import OutlierRule, flag_outliers
from iostudy.analysis.paired import as_fraction
from iostudy.analysis.series import FamilyOfTests
from iostudy.ledger.abandoned_workloads import AbandonedWorkload
from iostudy.ledger.rows import NO_WINDOWS, MeasuredRow, RunRow, StudyRow, SwitchbackRows, TrialRow
from iostudy.ledger.samples import ReadSamples
from iostudy.report.finite import build_span, finite, finite_values, round_values
from iostudy.report.formatting import describe_bounds, describe_given_up
from iostudy.report.topics.block_latency.build import build_block_latency
from iostudy.report.topics.bottlenecks.build import (
    Diagnoses,
    build_bottlenecks,
    build_disturbances,
    diagnose_trials,
)
from iostudy.report.topics.bottlenecks.explain_equivalence import (
    explain_all_workloads,
    explain_equivalence,
    varies_device_settings_only,
)
from iostudy.report.topics.bottlenecks.remedies import suggest_remedies
from iostudy.report.topics.bottlenecks.telemetry import build_telemetry, find_tested_device
from iostudy.report.topics.bottlenecks.values import BottleneckReport
from iostudy.report.topics.caveats.build import add_flags, add_imbalance, compute_shared_level
from iostudy.report.topics.covariates.build import build_covariates, covariate_values
from iostudy.report.topics.covariates.values import CovariateReport, GivenUpWorkload
from iostudy.report.topics.measurements.build import build_measurements, describe_figure
from iostudy.report.topics.noise.causes import build_noise_causes
from iostudy.report.topics.noise.section import build_workload_noise
from iostudy.report.topics.ranking.build import build_ranking
from iostudy.report.topics.ranking.values import RankingReport
from iostudy.report.topics.reference.build import build_reference
from iostudy.report.topics.scaling.build import build_scaling
from iostudy.report.topics.scaling.text import describe_crossings
from iostudy.report.topics.scaling.values import ScalingReport
from iostudy.report.topics.screening.build import build_screening
from iostudy.report.topics.switchback.build import build_switchback, describe_disagreements
from iostudy.report.topics.verdicts.answer import (
    AnswerContext,
    build_predicate,
    build_sentences,
    find_factor_noun,
    summarize_workloads,
)
from iostudy.report.topics.verdicts.configurations import build_configurations
from iostudy.report.topics.verdicts.headline import build_headline
from iostudy.report.topics.verdicts.method import build_method, list_reproduction_steps
from iostudy.report.topics.verdicts.next_steps import suggest_next_steps
from iostudy.report.topics.verdicts.values import Result, WorkloadReport
from iostudy.report.trials import TrialReport
from iostudy.report.values import Report, State
from iostudy.results.comparisons import (
    FIRST_LEVELS,
    ComparisonResult,
    collect_figures,
    compare_configurations,
)
from iostudy.results.recommendation import recommend
from iostudy.study.model import Study, WorkloadRequest
from iostudy.telemetry.summary import TelemetrySummary
from iostudy.workloads import catalog
from iostudy.workloads.option_text import format_options

_NOTHING = TelemetrySummary(0.0, {}, {})
"""Telemetry of a trial that did not end."""


def build_report(
    study: Study,
    study_row: StudyRow,
    rows: Iterable[TrialRow],
    folder: str = "DIR",
    samples: ReadSamples | None = None,
    given_up: Sequence[AbandonedWorkload] = (),
    switchback: SwitchbackRows = NO_WINDOWS,
) -> Report:
    """Build the report of a study from its plan and its ledger rows.

    ``study`` is the one that was carried out: with the host's levels, and without root where
    ``study_row`` says so. ``folder`` is the output folder, as commands will name it;
    ``samples`` reads what was sampled during a trial, for timelines; ``given_up`` are the
    workloads of which no attempt at a block counted. The windows of ``switchback`` decide in place
    of the trials, which then confirm the recommendation.
    """
    in_order = sorted(rows, key=lambda row: row.id)
    measured = switchback.windows or in_order
    compared = compare_configurations(study, measured)
    windows = build_switchback(study, switchback, compared, in_order)
    diagnoses = diagnose_trials(study, study_row.circumstances, in_order)
    limited = build_bottlenecks(study, in_order, diagnoses, samples)
    disturbed = build_disturbances(study, in_order, diagnoses)
    meters = build_telemetry(study, in_order)
    device = find_tested_device([*in_order, *switchback.runs])
    workloads, covariate_reports = _with_covariates(study, compared, in_order, measured, limited)
    trials = _trials(study, in_order, diagnoses)
    ranked, screened = build_ranking(study, measured), build_screening(study, in_order)
    scaled = build_scaling(study, in_order)
    return Report(
        name=study.name,
        question=study.question,
        state=_state(study, workloads),
        headline=screened.answer if screened else _headline(study, workloads, compared, limited),
        next_steps=(
            *suggest_next_steps(study, compared, folder),
            *suggest_remedies(study, workloads, limited, disturbed),
        ),
        answer=(
            *describe_disagreements(windows),
            *_answer(study, workloads, scaled, ranked, given_up),
        ),
        noun=_noun(study),
        baseline=_baseline_label(study),
        configurations=build_configurations(study, in_order, switchback.runs),
        ranking=ranked,
        screening=screened,
        curves=scaled,
        workloads=workloads,
        switchback=windows,
        trials=trials,
        telemetry=meters,
        limits=limited,
        disturbed=disturbed,
        covariates=covariate_reports,
        noise_causes=build_noise_causes(study, in_order),
        given_up=tuple(GivenUpWorkload(**asdict(own)) for own in given_up),
        block_requests=build_block_latency(study, in_order),
        device=device,
        notes=(
            *describe_bounds(study.bounds),
            *study.notes,
            *_trial_notes([*in_order, *switchback.runs]),
        ),
        reference=build_reference(study, in_order),
        method=build_method(study, study_row.seed, trials),
        reproduce=list_reproduction_steps(study, study_row),
        study_text=study_row.text,
        circumstances=_plain_mapping(study_row.circumstances),
        root=study_row.root,
        started_at=study_row.started_at,
        iostudy_version=study_row.iostudy_version,
    )


def _with_covariates(
    study: Study,
    compared: Sequence[ComparisonResult],
    rows: Sequence[TrialRow],
    measured: Sequence[MeasuredRow],
    limited: Sequence[BottleneckReport],
) -> tuple[tuple[WorkloadReport, ...], tuple[CovariateReport, ...]]:
    """Return every workload with its flags, and its covariates, whose tests share their level."""
    values = covariate_values(study, rows)
    shared = compute_shared_level(study, values)
    found = _workloads(study, compared, measured, shared)
    reports = build_covariates(study, values, found, shared)
    explained = (_explained(study, each, limited) for each in found)
    return tuple(add_imbalance(each, reports) for each in explained), reports


def _workloads(
    study: Study,
    found: Sequence[ComparisonResult],
    rows: Sequence[MeasuredRow],
    shared: FamilyOfTests,
) -> tuple[WorkloadReport, ...]:
    """Every workload with its results and all else that was measured."""
    values = collect_figures(study, rows)
    texts = (
        _workload(
            study,
            request,
            [result for result in found if result.workload == request.label],
            list(values.get((request.label, study.baseline.label), {}).values()),
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
    alone: Sequence[float],
) -> WorkloadReport:
    definition = catalog.get(request.name)
    figure = describe_figure(request.figure)
    baseline = _baseline(_baseline_label(study), compared, alone)
    if study.design is not None:
        compared = sorted(compared, key=lambda each: -abs(finite(each.comparison.estimate) or 0.0))
    results = (baseline, *(_result(result) for result in compared))
    return WorkloadReport(
        label=request.label,
        name=request.name,
        models=definition.models,
        leaves_out=definition.not_modelled,
        options=format_options(request.options),
        figure=figure,
        results=results,
        noise=build_workload_noise(study, request.label, compared),
        answer=build_sentences({request.label: build_predicate(results, figure, _topic(study))})[0],
    )


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
    device_settings_only = varies_device_settings_only(study)
    why = explain_equivalence(workload.results, own, device_settings_only=device_settings_only)
    return workload.model_copy(update={"explanation": why})


def _headline(
    study: Study,
    workloads: Sequence[WorkloadReport],
    compared: Sequence[ComparisonResult],
    limited: Sequence[BottleneckReport],
) -> str:
    why = explain_all_workloads(workloads, limited)
    return build_headline(workloads, _topic(study), recommend(study, compared), why)


def _noun(study: Study) -> str:
    return find_factor_noun(study.factors) if study.design is None else "level"


def _baseline_label(study: Study) -> str:
    """Return the baseline's label: in a screening the first level of each factor."""
    return study.baseline.label if study.design is None else FIRST_LEVELS


def _baseline(label: str, compared: Sequence[ComparisonResult], alone: Sequence[float]) -> Result:
    """The baseline runs in every block, so the longest comparison holds all of its values."""
    longest = max(compared, key=lambda result: result.comparison.blocks, default=None)
    if longest is None:
        mean = math.exp(math.fsum(map(math.log, alone)) / len(alone)) if alone else None
        return Result(configuration=label, baseline=True, blocks=len(alone), value=mean)
    blocks, value = longest.comparison.blocks, finite(longest.baseline_mean)
    return Result(configuration=label, baseline=True, blocks=blocks, value=value)


def _topic(study: Study) -> AnswerContext:
    return AnswerContext(
        noun=_noun(study),
        margin=study.decide.margin,
        max_blocks=study.decide.max_blocks,
    )


def _answer(
    study: Study,
    workloads: Sequence[WorkloadReport],
    scaled: Sequence[ScalingReport],
    ranked: RankingReport | None,
    given_up: Sequence[AbandonedWorkload],
) -> Iterator[str]:
    yield from summarize_workloads(workloads, _topic(study))
    yield from build_sentences(
        {workload.label: workload.explanation for workload in workloads if workload.explanation}
    )
    for own in scaled:
        yield from describe_crossings(own)
    if ranked:
        yield ranked.answer
    yield from map(describe_given_up, given_up)
    if _state(study, workloads) is not State.COMPLETE:
        yield "The study stopped before every comparison had a verdict; --resume continues it."


def _result(result: ComparisonResult) -> Result:
    comparison = result.comparison
    higher = comparison.higher_is_better
    sign = 1 if higher else -1
    robust = comparison.robust_interval if higher else comparison.robust_interval.mirrored()
    return Result(
        configuration=result.configuration,
        baseline=False,
        bound=result.bound,
        blocks=comparison.blocks,
        value=finite(result.mean),
        change=finite(comparison.change),
        interval=build_span(comparison.change_interval),
        robust_change=finite(as_fraction(sign * comparison.robust_estimate)),
        robust_interval=build_span(robust.as_fractions()),
        verdict=comparison.verdict,
        by_margin=comparison.by_margin,
        fragile=comparison.fragile,
        futile=comparison.futile,
        blocks_needed=comparison.blocks_needed,
    )


def _trials(study: Study, rows: Sequence[TrialRow], found: Diagnoses) -> tuple[TrialReport, ...]:
    outlying = _outlying(study, rows)
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
            outlier=row.counts and (row.workload, row.configuration, row.block) in outlying,
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


def _outlying(study: Study, rows: Sequence[TrialRow]) -> set[tuple[str, str, int]]:
    """(workload, configuration, block) of the counted trials that stand apart by both rules.

    Either alone points at one in twenty of nine normal values: more than a reader should look at.
    """
    return {
        (workload, configuration, list(values)[outlier.index])
        for (workload, configuration), values in collect_figures(study, rows).items()
        for outlier in flag_outliers(list(values.values()))
        if outlier.rules == frozenset(OutlierRule)
    }


def _state(study: Study, workloads: Sequence[WorkloadReport]) -> State:
    """A single configuration has nothing to decide and runs all its blocks."""
    results = [r for w in workloads for r in (w.results[1:] or w.results)]
    settled = all(result.has_ended(study.decide.max_blocks) for result in results)
    return State.COMPLETE if settled else State.STOPPED


def _trial_notes(rows: Sequence[TrialRow | RunRow]) -> tuple[str, ...]:
    """Return the notes of all trials, each once."""
    return tuple(dict.fromkeys(note for row in rows for note in row.notes))


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
