"""Flags of results whose assumptions fail a test, and disturbances."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from iostudy.analysis.series import (
    LEVEL,
    FamilyOfTests,
    Flag,
    flag_figures,
    flag_pairs,
    measure_slow_noise,
)
from iostudy.diagnosis.rules.rate_cap import ran_at_cap
from iostudy.ledger.rows import MeasuredRow, TrialRow
from iostudy.report.base import finite
from iostudy.report.formatting import format_count
from iostudy.report.section import Section, TextTable
from iostudy.report.topics.covariates import CovariateReport, CovariateValues, count_tests
from iostudy.report.topics.verdicts import Result, SlowNoiseReport, list_verdicts
from iostudy.results.comparisons import BlockFigures, BlockRuns, select_figures
from iostudy.study.model import Study
from iostudy.units import format_percent

if TYPE_CHECKING:
    from iostudy.report.values import Report, WorkloadReport


def add_flags(
    workload: WorkloadReport,
    study: Study,
    rows: Sequence[MeasuredRow],
    runs: BlockRuns,
    shared: FamilyOfTests,
) -> WorkloadReport:
    """The workload and its results with their flags; ``rows`` are in run order."""
    found = find_flags(workload.label, workload.figure.name, rows, shared)
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


def _flagged(
    result: Result, base: BlockFigures, figures: BlockFigures, shared: FamilyOfTests
) -> Result:
    if result.baseline:
        return result
    common = sorted(base.keys() & figures.keys())
    first, second = (np.log([each[block] for block in common]) for each in (base, figures))
    noise = measure_slow_noise(first, second)
    slow_noise = None
    if noise is not None and math.isfinite(noise.low):
        slow_noise = SlowNoiseReport(
            ratio=finite(noise.value), low=noise.low, high=finite(noise.high)
        )
    return result.model_copy(
        update={"flags": flag_pairs(first, second, shared), "slow_noise": slow_noise}
    )


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
    """Add a flag to every configuration with an uneven covariate."""
    labels = {
        own.imbalance.configuration
        for own in covariates
        if own.imbalance and own.workload == workload.label
    }
    return _add_flag(workload, Flag.IMBALANCE, labels, labels)


def add_rate_limits(
    workload: WorkloadReport, baseline: str, limited: Collection[tuple[str, str]]
) -> WorkloadReport:
    """Add a flag to every comparison of which a side ran at the limit of the load."""
    labels = {configuration for own, configuration in limited if own == workload.label}
    compared = {own.configuration for own in workload.results if not own.baseline}
    flagged = compared if baseline in labels else labels & compared
    return _add_flag(workload, Flag.RATE_LIMIT, labels, flagged)


def _add_flag(
    workload: WorkloadReport, flag: Flag, labels: Collection[str], flagged: Collection[str]
) -> WorkloadReport:
    """Add a flag to the ``flagged`` configurations, if it is raised for any of ``labels``.

    A study that compares levels gets a flag of the workload.
    """
    if not labels:
        return workload
    if not any(result.configuration in labels for result in workload.results):
        return workload.model_copy(update={"flags": (*workload.flags, flag)})
    return _change_results(
        workload,
        lambda result, _: (
            result.model_copy(update={"flags": (*result.flags, flag)})
            if result.configuration in flagged
            else result
        ),
    )


_MEANINGS = {
    Flag.DRIFT: (
        "the figures rise or fall over the study under all configurations. Verdicts hold if all "
        "feel the drift equally, because the trials of a block share it. The means are those of a "
        "moving level: do not compare them with other studies. Check whether the device fills up, "
        "heats up, or was still warming up."
    ),
    Flag.AUTOCORRELATION: (
        "neighbouring trials are correlated, for example through another load or the state of the "
        "device. Verdicts hold if all configurations feel this slow noise equally. Otherwise they "
        "hold for the time of the study. Reduce the load of the host if possible. Or repeat the "
        "study in six or more sessions at other hours, each with its own --out, and pool them: "
        "iostudy fleet report DIR..."
    ),
    Flag.DRIFTING_DIFFERENCE: (
        "the difference grows or shrinks from block to block. The verdict is the average over "
        "these blocks, and may not hold afterwards. Check the run order, and repeat the study in "
        "the state of interest, such as full or warm."
    ),
    Flag.AUTOCORRELATED_DIFFERENCES: (
        "the differences of neighbouring blocks are correlated. The effective number of blocks is "
        "smaller, and the interval is too narrow. Before relying on the verdict, repeat the study "
        "in six or more sessions at other hours, each with its own --out, and pool them: "
        "iostudy fleet report DIR..."
    ),
    Flag.SKEWED_DIFFERENCES: (
        "a few blocks differ far more than the others, in one direction. With few blocks, the "
        "coverage of the interval is then below its level. Check these blocks in the run order, "
        "and repeat the study with more blocks."
    ),
    Flag.UNEQUAL_VARIANCES: (
        "the variance of one configuration is far higher than that of the other. It may stall "
        "rarely, and more stalls may change the verdict. Repeat the study with more blocks before "
        "relying on it, such as blocks: [20, 60]."
    ),
    Flag.RATE_LIMIT: (
        "this configuration, the baseline or both ran at the limit of the load in most trials. "
        "“Equivalent” then says only that both reach the limit. Without it a difference can be "
        "larger. Repeat the study with a higher limit, or compare latencies at this load."
    ),
    Flag.IMBALANCE: (
        "steal, foreign CPU or foreign I/O differed between configurations. See “Covariates” for "
        "the figures and their meaning for the verdict."
    ),
}

_DISTURBED = (
    "Disturbances came from outside the study: another process, the hypervisor or CPU heat limited "
    "these trials, or the machine was suspended. The trials still count, because no predeclared "
    "rule excludes them, and such a rule would discard slow runs first. If one configuration was "
    "disturbed more than the others, repeat the study on an idle host."
)


def build_caveats_section(report: Report) -> Section | None:
    """Every flag with its place, and each kind explained once; None without any."""
    flagged = list(_list_flags(report))
    disturbed = [
        (
            *(own.workload, own.configuration),
            f"{own.disturbance} in {format_count(own.trials, 'trial')}: {own.sentence}",
        )
        for own in report.disturbed
    ]
    rows = [*flagged, *disturbed]
    if not rows:
        return None
    raised = [flag for flag in Flag if any(str(flag) in row for row in flagged)]
    return Section(
        name="flags",
        title="Caveats",
        notes=(
            *(f"{flag.capitalize()}: {explain_flag(flag)}" for flag in raised),
            *(_DISTURBED for _ in disturbed[:1]),
            (
                "Flags change no verdict and exclude no data. With independent normal noise, a "
                "study raises any flag of its tests with a probability of at most "
                f"{format_percent(LEVEL)}."
            ),
        ),
        tables=(TextTable("", ("workload", report.noun, "flag"), rows, names=2, words=1),),
    )


def _list_flags(report: Report) -> Iterator[tuple[str, str, str]]:
    for workload in report.workloads:
        for flag in workload.flags:
            yield workload.label, "all", str(flag)
        slow = not {Flag.DRIFT, Flag.AUTOCORRELATION}.isdisjoint(workload.flags)
        for verdicts in list_verdicts([workload]):
            name = f"{workload.label}, {verdicts.figure.name}"
            where = name if verdicts.is_guard else workload.label
            for result in verdicts.results:
                if slow and (noise := result.slow_noise):
                    ratio, high = (
                        "∞" if end is None else f"{end:.2f}" for end in (noise.ratio, noise.high)
                    )
                    text = (
                        f"feels slow noise {ratio} [{noise.low:.2f}, {high}] times as strongly as "
                        "the baseline"
                    )
                    yield where, result.configuration, text
                for flag in result.flags:
                    yield where, result.configuration, str(flag)


def explain_flag(flag: Flag) -> str:
    """Explain a flag, its meaning for the verdict, and the next step."""
    return _MEANINGS[flag]


_MOST = 0.5
"""Share of the counted trials of a configuration that ran at a cap, from which it did."""


def find_limited(rows: Iterable[TrialRow]) -> frozenset[tuple[str, str]]:
    """Return workload and configuration of those with most counted trials at a rate cap."""
    at_cap: dict[tuple[str, str], list[bool]] = {}
    for row in rows:
        if row.counts:
            own = at_cap.setdefault((row.workload, row.configuration), [])
            own.append(row.summary is not None and ran_at_cap(row.summary))
    return frozenset(key for key, found in at_cap.items() if sum(found) >= _MOST * len(found))
