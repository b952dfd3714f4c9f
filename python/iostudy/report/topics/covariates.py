"""Covariates by configuration, with the test for an imbalance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from pydantic import FiniteFloat

from iostudy.analysis.balance import measure_balance
from iostudy.analysis.series import FamilyOfTests
from iostudy.analysis.verdict import Verdict
from iostudy.report.base import OnWorkload, UnderConfiguration, finite
from iostudy.report.formatting import join_words, name_configuration
from iostudy.report.section import Section, make_table
from iostudy.results.comparisons import ComparisonResult, exclude_guards
from iostudy.results.covariates import CovariateValues
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.telemetry.covariates import Covariate
from iostudy.units import format_percent, format_significant

if TYPE_CHECKING:
    from iostudy.report.values import Report, WorkloadReport

_NOTABLE = 0.1
"""Share of a disturbance from which it is named as a reason."""
_DISTURBANCES = {
    Covariate.FOREIGN_CPU: "other processes used {} the CPU",
    Covariate.STEAL: "the hypervisor took {} the CPU",
    Covariate.FOREIGN_IO: "bytes of other processes were {} the workload's",
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


_RELEVANT = 0.5
"""In margins: a smaller difference of a covariate hardly changes a verdict."""


def build_covariates(
    study: Study,
    values: Sequence[CovariateValues],
    compared: Sequence[ComparisonResult],
    shared: FamilyOfTests,
) -> Iterator[CovariateReport]:
    """Yield the share of every configuration, and where one deviates; ``shared`` has the level."""
    verdicts = {
        (result.workload, result.configuration): result.comparison.verdict
        for result in exclude_guards(compared)
    }
    configurations, relevant = study.configurations(), _RELEVANT * study.decide.margin
    for matrix in values:
        balance, imbalance = measure_balance(matrix.shares, shared.level), None
        difference = abs(balance.mean - balance.mean_of_others) if balance else 0.0
        if balance and balance.p < shared.level and difference >= relevant:
            label = configurations[balance.configuration].label
            more = balance.mean > balance.mean_of_others
            imbalance = Imbalance(
                configuration=label,
                share=balance.mean,
                others=balance.mean_of_others,
                meaning=_meaning(study, label, verdicts.get((matrix.workload, label)), more=more),
            )
        yield CovariateReport.copy_from(
            matrix,
            shares=tuple(
                CovariateShare(
                    configuration=configuration.label,
                    trials=len(known := column[~np.isnan(column)]),
                    share=finite(float(known.mean())) if len(known) else None,
                )
                for configuration, column in zip(configurations, matrix.shares.T, strict=True)
            ),
            p=balance.p if balance else None,
            testable=balance is not None and balance.minimum_p < shared.level,
            imbalance=imbalance,
        )


def _meaning(study: Study, configuration: str, verdict: Verdict | None, *, more: bool) -> str:
    """Return the meaning of an imbalance for the verdict of its configuration, if it has one."""
    if find_mode(study).compares_levels:
        return "The effects of its levels may be those of the disturbance."
    if configuration == study.baseline.label:
        against = "better" if more else "worse"
        return f"It is the baseline: a verdict of {against} may be an effect of the disturbance."
    match verdict:
        case Verdict.WORSE | Verdict.BETTER:
            if (verdict is Verdict.WORSE) is more:
                return f"Its verdict ({verdict}) may be an effect of the disturbance."
            return f"Its verdict ({verdict}) holds in spite of the disturbance."
        case Verdict.EQUIVALENT | Verdict.NOT_WORSE | Verdict.NOT_BETTER:
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
    shares: dict[tuple[str, str], dict[Covariate, float | None]] = {}
    for covariate in report.covariates:
        for share in covariate.shares:
            row = shares.setdefault((covariate.workload, share.configuration), {})
            row[covariate.covariate] = share.share
    recorded = [name for name in Covariate if any(name in row for row in shares.values())]
    rows = (
        {"workload": workload, report.noun: configuration}
        | {f"{name}, %": format_share(row.get(name)) for name in recorded}
        for (workload, configuration), row in shares.items()
    )
    table = make_table(rows, names=2)
    long = len(table.rows) > _MOST_ROWS
    return Section(
        "covariates",
        "Covariates",
        (_OF_WINDOWS if report.switchback else _OF_TRIALS, *_findings(report)),
        tables=() if long else (table,),
        folded=(table,) if long else (),
    )


def format_share(share: float | None, unknown: str = "") -> str:
    """Return a share in percent, without the sign."""
    return unknown if share is None else format_percent(share).removesuffix(" %")


def _findings(report: Report) -> Iterator[str]:
    for covariate in report.covariates:
        if imbalance := covariate.imbalance:
            share, others = format_percent(imbalance.share), format_percent(imbalance.others)
            name = name_configuration(imbalance.configuration, report.factor)
            yield (
                f"{covariate.workload}: {covariate.covariate} took {share} of "
                f"{covariate.covariate.whole} under {name}, and {others} under the others in the "
                f"same blocks. {imbalance.meaning}"
            )
    if any(covariate.imbalance for covariate in report.covariates):
        yield _CAUTION
        return
    if any(covariate.testable for covariate in report.covariates):
        yield "None of them differs between configurations by more than chance and half a margin."
    varying = [c.workload for c in report.covariates if c.p is not None and not c.testable]
    if varying:
        where = join_words(list(dict.fromkeys(varying)))
        yield f"Too few blocks of {where} ran to show an imbalance between configurations."


def list_open_workloads(workloads: Iterable[WorkloadReport], *, guards: bool = False) -> list[str]:
    """Return the labels of the workloads with a comparison without a verdict.

    With ``guards`` those by further figures count too.
    """
    return [
        workload.label
        for workload in workloads
        if any(
            result.is_open
            for part in (workload.results, *(guard.results for guard in workload.guards if guards))
            for result in part[1:]
        )
    ]


def describe_disturbances(
    workloads: Iterable[WorkloadReport], covariates: Sequence[CovariateReport]
) -> Iterator[str]:
    """Yield the largest mean share of each notable disturbance of workloads without a verdict."""
    waiting = list_open_workloads(workloads, guards=True)
    for covariate, text in _DISTURBANCES.items():
        shares = [
            share.share
            for report in covariates
            if report.covariate is covariate and report.workload in waiting
            for share in report.shares
            if share.share is not None
        ]
        if shares and max(shares) >= _NOTABLE:
            most = max(shares)
            of = f"{format_percent(round(most, 2))} of"
            yield text.format(of if most <= 1 else f"{format_significant(most)} times")
