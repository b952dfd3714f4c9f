"""Results of all workloads with their flags and covariates (pure)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from iostudy.analysis.series import FamilyOfTests
from iostudy.analysis.slow_runs import SlowRuns
from iostudy.ledger.rows import MeasuredRow
from iostudy.report.base import FigureDescription
from iostudy.report.finite import build_span, finite
from iostudy.report.recorded_study import RecordedStudy
from iostudy.report.topics.bottlenecks.explain_equivalence import (
    explain_equivalence,
    explain_rate_limit,
    varies_device_settings_only,
)
from iostudy.report.topics.bottlenecks.values import BottleneckReport
from iostudy.report.topics.caveats.build import (
    add_flags,
    add_imbalance,
    add_rate_limits,
    compute_shared_level,
)
from iostudy.report.topics.covariates.build import (
    CovariateValues,
    build_covariates,
    covariate_values,
    window_covariate_values,
)
from iostudy.report.topics.covariates.values import CovariateReport
from iostudy.report.topics.measurements.build import build_measurements, describe_figure
from iostudy.report.topics.noise.section import build_workload_power
from iostudy.report.topics.verdicts.answer import (
    build_context,
    build_predicate,
    build_sentences,
    find_baseline_label,
)
from iostudy.report.topics.verdicts.names import find_single_factor
from iostudy.report.topics.verdicts.values import Result, SlowRunsReport
from iostudy.report.values import GuardReport, WorkloadReport
from iostudy.results.comparisons import (
    ComparisonResult,
    Run,
    collect_runs,
    exclude_guards,
    select_figures,
)
from iostudy.results.rate_limit import find_limited
from iostudy.results.recommendation import is_met_guard
from iostudy.study.mode import Mode, find_mode
from iostudy.study.model import Study, WorkloadRequest
from iostudy.workloads import catalog
from iostudy.workloads.definition import Figure
from iostudy.workloads.option_text import format_options


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
