"""Flags of workloads and results whose assumptions fail a test (pure)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

import numpy as np

from iostudy.analysis.paired import Array
from iostudy.analysis.series import (
    FamilyOfTests,
    Flag,
    flag_figures,
    flag_pairs,
    measure_slow_noise,
)
from iostudy.ledger.rows import MeasuredRow
from iostudy.report.finite import finite
from iostudy.report.topics.covariates.build import CovariateValues, count_tests
from iostudy.report.topics.covariates.values import CovariateReport
from iostudy.report.topics.verdicts.figure_verdicts import list_verdicts
from iostudy.report.topics.verdicts.values import Result, SlowNoiseReport
from iostudy.report.values import WorkloadReport
from iostudy.results.comparisons import BlockFigures, collect_runs, select_figures
from iostudy.study.model import Study


def add_flags(
    workload: WorkloadReport, study: Study, rows: Sequence[MeasuredRow], shared: FamilyOfTests
) -> WorkloadReport:
    """The workload and its results with their flags; ``rows`` are in run order."""
    found = find_flags(workload.label, workload.figure.name, rows, shared)
    runs = collect_runs(study, rows)
    base = runs.get((workload.label, study.baseline.label), {})

    def flag(result: Result, figure: str) -> Result:
        own = runs.get((workload.label, result.configuration), {})
        first, second = (select_figures(each, figure) for each in (base, own))
        return _flagged(result, first, second, shared)

    return _change_results(workload.model_copy(update={"flags": found}), flag)


def _change_results(
    workload: WorkloadReport, change: Callable[[Result, str], Result]
) -> WorkloadReport:
    """Return the workload with all results changed; ``change`` gets a result and its figure."""
    results, *guards = (
        tuple(change(result, each.figure.name) for result in each.results)
        for each in list_verdicts([workload])
    )
    changed = (
        guard.model_copy(update={"results": own})
        for guard, own in zip(workload.guards, guards, strict=True)
    )
    return workload.model_copy(update={"results": results, "guards": tuple(changed)})


def find_flags(
    workload: str, figure: str, rows: Sequence[MeasuredRow], shared: FamilyOfTests
) -> tuple[Flag, ...]:
    """Return the flags of a figure in the counted trials of all configurations.

    Failed trials, and windows with figure 0, have no logarithm and are left out.
    """
    counted = (row for row in rows if row.counts and row.workload == workload)
    own = [row for row in counted if (row.figures or {}).get(figure, 0.0) > 0]
    figures = [np.log((row.figures or {})[figure]) for row in own]
    return flag_figures(figures, [row.configuration for row in own], shared)


def compute_shared_level(study: Study, values: Sequence[CovariateValues]) -> FamilyOfTests:
    """The level of every test of the study, those of its covariates included."""
    tests, guards = count_tests(values), sum(len(own.figures) - 1 for own in study.workloads)
    pairs = study.comparisons // len(study.workloads)
    return FamilyOfTests(
        series=len(study.workloads), pairs=study.comparisons + pairs * guards, covariates=tests
    )


def add_imbalance(
    workload: WorkloadReport, covariates: Sequence[CovariateReport]
) -> WorkloadReport:
    """Add a flag to every configuration with an uneven covariate.

    A screening, whose results are levels, gets a flag of the workload.
    """
    labels = {
        own.imbalance.configuration
        for own in covariates
        if own.imbalance and own.workload == workload.label
    }
    if not labels:
        return workload
    if labels.isdisjoint(result.configuration for result in workload.results):
        return workload.model_copy(update={"flags": (*workload.flags, Flag.IMBALANCE)})
    return _change_results(
        workload,
        lambda result, _: (
            _add_flag(result, Flag.IMBALANCE) if result.configuration in labels else result
        ),
    )


def add_rate_limits(
    workload: WorkloadReport, baseline: str, limited: Collection[tuple[str, str]]
) -> WorkloadReport:
    """Add a flag to every comparison of which a side ran at the limit of the load.

    A screening, whose results are levels, gets a flag of the workload.
    """
    labels = {configuration for own, configuration in limited if own == workload.label}
    if not labels:
        return workload
    if labels.isdisjoint(result.configuration for result in workload.results):
        return workload.model_copy(update={"flags": (*workload.flags, Flag.RATE_LIMIT)})
    return _change_results(
        workload,
        lambda result, _: (
            _add_flag(result, Flag.RATE_LIMIT)
            if not result.baseline and labels & {baseline, result.configuration}
            else result
        ),
    )


def _add_flag(result: Result, flag: Flag) -> Result:
    return result.model_copy(update={"flags": (*result.flags, flag)})


def _flagged(
    result: Result, base: BlockFigures, own: BlockFigures, shared: FamilyOfTests
) -> Result:
    if result.baseline:
        return result
    common = sorted(base.keys() & own.keys())
    first, second = (np.log([each[block] for block in common]) for each in (base, own))
    return result.model_copy(
        update={
            "flags": flag_pairs(first, second, shared),
            "slow_noise": _build_slow_noise(first, second),
        }
    )


def _build_slow_noise(first: Array, second: Array) -> SlowNoiseReport | None:
    found = measure_slow_noise(first, second)
    if found is None or not math.isfinite(found.low):
        return None
    return SlowNoiseReport(ratio=finite(found.value), low=found.low, high=finite(found.high))
