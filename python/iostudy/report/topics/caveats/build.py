"""Flags of workloads and results whose assumptions fail a test (pure)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

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
from iostudy.report.topics.verdicts.values import Result, SlowNoiseReport
from iostudy.report.values import WorkloadReport
from iostudy.results.comparisons import BlockFigures, collect_figures
from iostudy.study.model import Study


def add_flags(
    workload: WorkloadReport, study: Study, rows: Sequence[MeasuredRow], shared: FamilyOfTests
) -> WorkloadReport:
    """The workload and its results with their flags; ``rows`` are in run order."""
    found = find_flags(workload.label, workload.figure.name, rows, shared)
    values = collect_figures(study, rows)
    base = values.get((workload.label, study.baseline.label), {})
    results = tuple(
        _flagged(result, base, values.get((workload.label, result.configuration), {}), shared)
        for result in workload.results
    )
    return workload.model_copy(update={"flags": found, "results": results})


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
    tests = count_tests(values)
    return FamilyOfTests(series=len(study.workloads), pairs=study.comparisons, covariates=tests)


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
    results = tuple(
        result.model_copy(update={"flags": (*result.flags, Flag.IMBALANCE)})
        if result.configuration in labels
        else result
        for result in workload.results
    )
    return workload.model_copy(update={"results": results})


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
    results = tuple(
        result.model_copy(update={"flags": (*result.flags, Flag.RATE_LIMIT)})
        if not result.baseline and labels & {baseline, result.configuration}
        else result
        for result in workload.results
    )
    return workload.model_copy(update={"results": results})


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
