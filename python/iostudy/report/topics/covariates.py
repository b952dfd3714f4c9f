"""Covariates by configuration, with the test for an imbalance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import FiniteFloat

from iostudy.analysis.balance import Balance, measure_balance
from iostudy.analysis.series import FamilyOfTests
from iostudy.analysis.verdict import Verdict
from iostudy.errors import LedgerError
from iostudy.ledger.rows import RunRow, SwitchbackRows, TrialRow, WindowRow
from iostudy.ledger.samples import ReadSamples
from iostudy.report.base import OnWorkload, UnderConfiguration, finite
from iostudy.report.formatting import join_words, name_configuration
from iostudy.report.section import Section, make_table
from iostudy.report.topics.verdicts import Result
from iostudy.study.model import Study
from iostudy.telemetry.covariates import (
    WINDOW_COLUMNS,
    Covariate,
    compute_covariates,
    compute_window_covariates,
)
from iostudy.units import format_percent, format_significant

if TYPE_CHECKING:
    from iostudy.report.values import Report, WorkloadReport

_NOTABLE = 0.1
"""Share of a disturbance from which it is named as a reason."""
_DISTURBANCES = {
    Covariate.FOREIGN_CPU: "other processes used {} the CPU",
    Covariate.STEAL: "the hypervisor took {} the CPU",
    Covariate.FOREIGN_IO: "other processes moved {} the workload's own bytes",
}


class CovariateShare(UnderConfiguration):
    """The mean of a covariate over the trials or windows of one configuration, as a fraction."""

    trials: int
    """Number of blocks in which it is known, each with one trial or some windows."""
    share: FiniteFloat | None
    """Mean share, as a fraction; null if unknown."""


class Imbalance(UnderConfiguration):
    """A configuration with more, or less, of a covariate than the others."""

    share: FiniteFloat
    """Its mean share in the blocks that it has in common with others, as a fraction."""
    others: FiniteFloat
    """Mean share of the others in the same blocks, as a fraction."""
    meaning: str
    """What the imbalance means for the verdict."""


class CovariateReport(OnWorkload):
    """One covariate on one workload."""

    covariate: Covariate
    """The covariate."""
    shares: tuple[CovariateShare, ...]
    """Mean shares, in the study's order of configurations."""
    p: FiniteFloat | None
    """p-value of the randomisation test within blocks; null if no trials of a block differ."""
    testable: bool
    """Whether the number of blocks is large enough to show an imbalance."""
    imbalance: Imbalance | None
    """The flagged imbalance; null without one."""


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


def covariate_values(study: Study, rows: Sequence[TrialRow]) -> tuple[CovariateValues, ...]:
    """Every covariate that is known of any counted trial, by workload in the study's order."""
    return _in_order(
        study,
        (
            (row.workload, covariate, (row.block, row.configuration), share)
            for row in rows
            if row.counts and row.summary is not None
            for covariate, share in compute_covariates(row.summary).items()
        ),
    )


def window_covariate_values(
    study: Study, rows: SwitchbackRows, samples: ReadSamples
) -> tuple[CovariateValues, ...]:
    """Every covariate that is known of any window: means over the windows of a block.

    A run without readable samples has none; its notes say why.
    """
    found: dict[tuple[str, Covariate, tuple[int, str]], list[float]] = {}
    for request in study.workloads:
        for run, windows in rows.by_run(request.label):
            for covariate, shares in _interpolate(run, windows, samples).items():
                for row, share in zip(windows, shares.tolist(), strict=True):
                    if math.isfinite(share):
                        key = (request.label, covariate, (row.block, row.configuration))
                        found.setdefault(key, []).append(share)
    return _in_order(study, ((*key, fmean(own)) for key, own in found.items()))


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


def _in_order(
    study: Study, shares: Iterable[tuple[str, Covariate, tuple[int, str], float]]
) -> tuple[CovariateValues, ...]:
    """Return the shares of (workload, covariate, (block, configuration)) as matrices."""
    found: dict[tuple[str, Covariate], dict[tuple[int, str], float]] = {}
    for workload, covariate, place, share in shares:
        found.setdefault((workload, covariate), {})[place] = share
    labels = [configuration.label for configuration in study.configurations()]
    return tuple(
        CovariateValues(
            request.label,
            covariate,
            np.array(
                [
                    [own.get((block, label), math.nan) for label in labels]
                    for block in sorted({block for block, _ in own})
                ]
            ),
        )
        for request in study.workloads
        for covariate in Covariate
        if (own := found.get((request.label, covariate)))
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


def _report(
    study: Study, values: CovariateValues, results: Sequence[Result], level: float
) -> CovariateReport:
    balance = measure_balance(values.shares, level)
    flagged = (
        balance is not None
        and balance.p < level
        and abs(balance.mean - balance.mean_of_others) >= _RELEVANT * study.decide.margin
    )
    return CovariateReport(
        workload=values.workload,
        covariate=values.covariate,
        shares=tuple(
            CovariateShare(
                configuration=configuration.label,
                trials=len(known := column[~np.isnan(column)]),
                share=finite(float(known.mean())) if len(known) else None,
            )
            for configuration, column in zip(study.configurations(), values.shares.T, strict=True)
        ),
        p=balance.p if balance else None,
        testable=balance is not None and balance.minimum_p < level,
        imbalance=_imbalance(study, balance, results) if balance and flagged else None,
    )


def _imbalance(study: Study, balance: Balance, results: Sequence[Result]) -> Imbalance:
    label = study.configurations()[balance.configuration].label
    result = next((own for own in results if own.configuration == label), None)
    more = balance.mean > balance.mean_of_others
    return Imbalance(
        configuration=label,
        share=balance.mean,
        others=balance.mean_of_others,
        meaning=_meaning(result, more=more),
    )


def _meaning(result: Result | None, *, more: bool) -> str:
    """Return the meaning of an imbalance for the verdict of its configuration, if it has one."""
    if result is None:
        return "The effects of its levels may be those of the disturbance."
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


_OF_TRIALS = (
    "Means over the trials that count: CPU steal and foreign CPU as shares of the CPU time, "
    "foreign I/O as a share of the workload's own bytes. They exclude no trial unless the study "
    "sets a limit."
)
_OF_WINDOWS = (
    "Means over the windows: CPU steal and foreign CPU as shares of the CPU time. Samples are less "
    "frequent than short windows, so a disturbance of one window also counts in its neighbours, "
    "and differences between configurations seem smaller. They exclude no window."
)
_CAUTION = (
    "A disturbance slows what it hits. The share can also follow from the configuration, as a "
    "longer trial meets more foreign I/O. Repeat the study on a quieter host before much rests on "
    "the verdict."
)
_MOST_ROWS = 12
"""Longer tables are folded."""


def build_covariates_section(report: Report) -> Section | None:
    """None where no covariate is known."""
    if not report.covariates:
        return None
    known = [each for each in Covariate if any(own.covariate is each for own in report.covariates)]
    table = make_table(
        (
            {
                "workload": workload,
                report.noun: share.configuration,
                **{
                    f"{each}, %": format_share(by_name[each].shares[index].share)
                    if each in by_name
                    else ""
                    for each in known
                },
            }
            for workload, group in groupby(report.covariates, key=lambda own: own.workload)
            for by_name in [{own.covariate: own for own in group}]
            for index, share in enumerate(next(iter(by_name.values())).shares)
        ),
        names=2,
    )
    long = len(table.rows) > _MOST_ROWS
    return Section(
        name="covariates",
        title="Covariates",
        notes=(_OF_WINDOWS if report.switchback else _OF_TRIALS, *_findings(report)),
        tables=() if long else (table,),
        folded=(table,) if long else (),
    )


def format_share(share: float | None, unknown: str = "") -> str:
    """Return a share in percent, without the sign."""
    return unknown if share is None else format_percent(share).removesuffix(" %")


def _findings(report: Report) -> Iterator[str]:
    imbalanced = [own for own in report.covariates if own.imbalance]
    if imbalanced:
        yield from (describe_imbalance(own, report.factor) for own in imbalanced)
        yield _CAUTION
        return
    tested = [own for own in report.covariates if own.testable]
    if tested:
        yield "None of them differs between configurations by more than chance and half a margin."
    varying = [own for own in report.covariates if own.p is not None and not own.testable]
    if varying:
        where = join_words(list(dict.fromkeys(own.workload for own in varying)))
        yield f"Too few blocks of {where} ran to show an imbalance between configurations."


def describe_imbalance(covariate: CovariateReport, factor: str) -> str:
    """An imbalance with its figures and what it means for the verdict."""
    found = covariate.imbalance
    assert found is not None
    share, others = format_percent(found.share), format_percent(found.others)
    return (
        f"{covariate.workload}: {covariate.covariate} took {share} of "
        f"{covariate.covariate.whole} under {name_configuration(found.configuration, factor)}, "
        f"and {others} under the others in the same blocks. {found.meaning}"
    )


def list_open_workloads(workloads: Iterable[WorkloadReport]) -> list[str]:
    """Return the labels of the workloads with a comparison without a verdict."""
    return [own.label for own in workloads if any(each.is_open for each in own.results[1:])]


def describe_disturbances(
    workloads: Iterable[WorkloadReport], covariates: Sequence[CovariateReport]
) -> Iterator[str]:
    """Yield the largest mean share of each notable disturbance of workloads without a verdict."""
    waiting = list_open_workloads(workloads)
    for covariate, text in _DISTURBANCES.items():
        shares = [
            share.share
            for own in covariates
            if own.covariate is covariate and own.workload in waiting
            for share in own.shares
            if share.share is not None
        ]
        if shares and max(shares) >= _NOTABLE:
            yield text.format(_format_share(max(shares)))


def _format_share(share: float) -> str:
    if share <= 1:
        return f"{format_percent(round(share, 2))} of"
    return f"{format_significant(share)} times"
