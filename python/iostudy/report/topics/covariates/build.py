"""Covariates by configuration, with the test for an imbalance between configurations (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from iostudy.analysis.balance import Balance, measure_balance
from iostudy.analysis.series import FamilyOfTests
from iostudy.analysis.verdict import Verdict
from iostudy.errors import LedgerError
from iostudy.ledger.rows import RunRow, SwitchbackRows, TrialRow, WindowRow
from iostudy.ledger.samples import ReadSamples
from iostudy.report.finite import finite
from iostudy.report.topics.covariates.values import CovariateReport, CovariateShare, Imbalance
from iostudy.report.topics.verdicts.values import Result
from iostudy.report.values import WorkloadReport
from iostudy.study.model import Study
from iostudy.telemetry.covariates import Covariate, compute_covariates
from iostudy.telemetry.window_covariates import WINDOW_COLUMNS, compute_window_covariates

Array = NDArray[np.float64]

_RELEVANT = 0.5
"""In margins: a smaller difference of a covariate hardly changes a verdict."""


@dataclass(frozen=True)
class CovariateValues:
    """A covariate of the trials or windows of a workload: blocks x configurations, NaN if unknown.

    Trials are those that count.
    """

    workload: str
    covariate: Covariate
    shares: Array


_Values = dict[tuple[str, Covariate], dict[tuple[int, str], float]]
"""Shares of (block, configuration) by (workload, covariate)."""


def covariate_values(study: Study, rows: Sequence[TrialRow]) -> tuple[CovariateValues, ...]:
    """Every covariate that is known of any counted trial, by workload in the study's order."""
    found: _Values = {}
    for row in rows:
        if row.counts and row.summary is not None:
            for covariate, share in compute_covariates(row.summary).items():
                own = found.setdefault((row.workload, covariate), {})
                own[row.block, row.configuration] = share
    return _in_order(study, found)


def window_covariate_values(
    study: Study, rows: SwitchbackRows, samples: ReadSamples
) -> tuple[CovariateValues, ...]:
    """Every covariate that is known of any window: means over the windows of a block.

    A run without readable samples has none; its notes say why.
    """
    found: _Values = {}
    for request in study.workloads:
        for run, windows in rows.by_run(request.label):
            for covariate, shares in _interpolate(run, windows, samples).items():
                own = found.setdefault((request.label, covariate), {})
                own |= _average(windows, shares)
    return _in_order(study, found)


def _interpolate(
    run: RunRow, windows: Sequence[WindowRow], samples: ReadSamples
) -> Mapping[Covariate, Array]:
    if not windows:
        return {}
    starts = np.array([row.start for row in windows])
    ends = starts + np.array([row.seconds for row in windows])
    try:
        return compute_window_covariates(samples(run.telemetry, WINDOW_COLUMNS), starts, ends)
    except LedgerError:
        return {}


def _average(windows: Sequence[WindowRow], shares: Array) -> dict[tuple[int, str], float]:
    """Return the means over the windows with a known share, by block and configuration."""
    grouped: dict[tuple[int, str], list[float]] = {}
    for row, share in zip(windows, shares.tolist(), strict=True):
        if math.isfinite(share):
            grouped.setdefault((row.block, row.configuration), []).append(share)
    return {place: fmean(own) for place, own in grouped.items()}


def _in_order(study: Study, found: _Values) -> tuple[CovariateValues, ...]:
    labels = [configuration.label for configuration in study.configurations()]
    return tuple(
        CovariateValues(request.label, covariate, _matrix(found[request.label, covariate], labels))
        for request in study.workloads
        for covariate in Covariate
        if (request.label, covariate) in found
    )


def build_covariates(
    study: Study,
    values: Sequence[CovariateValues],
    workloads: Sequence[WorkloadReport],
    shared: FamilyOfTests,
) -> tuple[CovariateReport, ...]:
    """The share of every configuration, and where one deviates; ``shared`` has the level."""
    results = {workload.label: workload.results for workload in workloads}
    return tuple(_report(study, own, results[own.workload], shared.level) for own in values)


def count_tests(values: Sequence[CovariateValues]) -> int:
    """The number of tests for an imbalance: one of every covariate that was not always 0."""
    return sum(bool(np.nansum(own.shares) > 0) for own in values)


def _matrix(values: dict[tuple[int, str], float], labels: Sequence[str]) -> Array:
    blocks = sorted({block for block, _ in values})
    return np.array(
        [[values.get((block, label), math.nan) for label in labels] for block in blocks]
    )


def _report(
    study: Study, own: CovariateValues, results: Sequence[Result], level: float
) -> CovariateReport:
    balance = measure_balance(own.shares, level)
    flagged = balance is not None and _is_flagged(balance, level, study.decide.margin)
    return CovariateReport(
        workload=own.workload,
        covariate=own.covariate,
        shares=tuple(_shares(study, own.shares)),
        p=balance.p if balance else None,
        testable=balance is not None and balance.minimum_p < level,
        imbalance=_imbalance(study, balance, results) if balance and flagged else None,
    )


def _shares(study: Study, shares: Array) -> Iterator[CovariateShare]:
    for configuration, column in zip(study.configurations(), shares.T, strict=True):
        known = column[~np.isnan(column)]
        share = finite(float(known.mean())) if len(known) else None
        yield CovariateShare(configuration=configuration.label, trials=len(known), share=share)


def _is_flagged(balance: Balance, level: float, margin: float) -> bool:
    return balance.p < level and abs(balance.mean - balance.mean_of_others) >= _RELEVANT * margin


def _imbalance(study: Study, balance: Balance, results: Sequence[Result]) -> Imbalance:
    label = study.configurations()[balance.configuration].label
    result = next((own for own in results if own.configuration == label), None)
    more = balance.mean > balance.mean_of_others
    return Imbalance(
        configuration=label,
        share=balance.mean,
        others=balance.mean_of_others,
        meaning=_general_meaning() if result is None else _meaning(result, more=more),
    )


def _general_meaning() -> str:
    """Return the meaning for a run of a design, which has no verdict of its own."""
    return "The effects of its levels may be those of the disturbance."


def _meaning(result: Result, *, more: bool) -> str:
    """Return the meaning of an imbalance for the verdict of its configuration."""
    if result.baseline:
        against = "better" if more else "worse"
        return f"It is the baseline: a verdict of {against} may be an effect of the disturbance."
    match result.verdict:
        case Verdict.WORSE | Verdict.BETTER as verdict:
            if (verdict is Verdict.WORSE) is more:
                return f"Its verdict ({verdict}) may be an effect of the disturbance."
            return f"Its verdict ({verdict}) holds in spite of the disturbance."
        case Verdict.EQUIVALENT | Verdict.NOT_WORSE | Verdict.NOT_BETTER as verdict:
            return f"Its verdict ({verdict}) may hide a difference that the disturbance offsets."
        case _:
            return "It has no verdict that could be an effect of the disturbance."
