"""Report section on covariates: shares by configuration and every imbalance."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from iostudy.report.formatting import join_words
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.covariates.values import CovariateReport
from iostudy.report.topics.verdicts.names import name_configuration
from iostudy.report.values import Report
from iostudy.telemetry.covariates import Covariate
from iostudy.units import format_percent

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
    table = _table(report)
    long = len(table.rows) > _MOST_ROWS
    return Section(
        name="covariates",
        title="Covariates",
        notes=(_OF_WINDOWS if report.switchback else _OF_TRIALS, *_findings(report)),
        tables=() if long else (table,),
        folded=(table,) if long else (),
    )


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


def describe_imbalance(own: CovariateReport, factor: str) -> str:
    """An imbalance with its figures and what it means for the verdict."""
    found = own.imbalance
    assert found is not None
    share, others = format_percent(found.share), format_percent(found.others)
    return (
        f"{own.workload}: {own.covariate} took {share} of {own.covariate.whole} under "
        f"{name_configuration(found.configuration, factor)}, and {others} under the others in "
        f"the same blocks. {found.meaning}"
    )


def _table(report: Report) -> TextTable:
    known = [each for each in Covariate if any(own.covariate is each for own in report.covariates)]
    rows: list[tuple[str, ...]] = []
    for workload, group in groupby(report.covariates, key=lambda own: own.workload):
        reports = {own.covariate: own for own in group}
        labels = [share.configuration for share in next(iter(reports.values())).shares]
        for place, label in enumerate(labels):
            shares = (_share(reports.get(each), place) for each in known)
            rows.append((workload, label, *shares))
    heads = ("workload", report.noun, *(f"{each}, %" for each in known))
    return TextTable("", heads, rows, names=2)


def _share(report: CovariateReport | None, place: int) -> str:
    share = report.shares[place].share if report else None
    return "" if share is None else format_percent(share).removesuffix(" %")
