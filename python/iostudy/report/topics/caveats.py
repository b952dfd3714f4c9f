"""Flags of results whose assumptions fail a test, and disturbances."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
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
from iostudy.report.formatting import find_baseline_label, format_count
from iostudy.report.section import Section, TextTable
from iostudy.report.topics.covariates import CovariateReport
from iostudy.report.topics.verdicts import Result, SlowNoiseReport, list_verdicts
from iostudy.results.comparisons import BlockRuns, select_figures
from iostudy.results.covariates import CovariateValues, count_tests
from iostudy.study.mode import find_mode
from iostudy.study.model import Study, WorkloadRequest
from iostudy.units import format_percent
from iostudy.workloads.definition import Figure

if TYPE_CHECKING:
    from iostudy.report.values import Report


@dataclass(frozen=True)
class FlagTests:
    """Flags of a study's workloads and comparisons, whose tests share one level.

    ``rows`` are in run order. Failed trials, and windows with figure 0, have no logarithm and are
    left out. ``limited`` are the workloads and configurations at the limit of the load.
    """

    study: Study
    rows: Sequence[MeasuredRow]
    runs: BlockRuns
    shared: FamilyOfTests
    limited: Collection[tuple[str, str]]
    covariates: Sequence[CovariateReport]

    def flag_workload(self, request: WorkloadRequest) -> tuple[Flag, ...]:
        """Return the flags of the figures in run order.

        Where levels are compared, they include those of whole configurations.
        """
        logs, labels = [], []
        for row in self.rows:
            figure = (row.figures or {}).get(request.figure.name, 0.0)
            if row.counts and row.workload == request.label and figure > 0:
                logs.append(np.log(figure))
                labels.append(row.configuration)
        flags = flag_figures(logs, labels, self.shared)
        if not find_mode(self.study).compares_levels:
            return flags
        raised = {Flag.RATE_LIMIT: self._limited(request), Flag.IMBALANCE: self._uneven(request)}
        return (*flags, *(flag for flag, configurations in raised.items() if configurations))

    def flag_result(
        self, request: WorkloadRequest, figure: Figure, result: Result
    ) -> dict[str, object]:
        """Return the result's flags, and how strongly it feels slow noise, as fields."""
        pair = (find_baseline_label(self.study), result.configuration)
        flags: list[Flag] = []
        slow_noise = None
        if not result.baseline:
            runs = (self.runs.get((request.label, label), {}) for label in pair)
            base, other = (select_figures(by_block, figure.name) for by_block in runs)
            common = sorted(base.keys() & other.keys())
            first, second = (np.log([side[block] for block in common]) for side in (base, other))
            flags += flag_pairs(first, second, self.shared)
            noise = measure_slow_noise(first, second)
            if noise is not None and math.isfinite(noise.low):
                ratio, high = finite(noise.value), finite(noise.high)
                slow_noise = SlowNoiseReport(ratio=ratio, low=noise.low, high=high)
            if not self._limited(request).isdisjoint(pair):
                flags.append(Flag.RATE_LIMIT)
        if result.configuration in self._uneven(request):
            flags.append(Flag.IMBALANCE)
        return {"flags": tuple(flags), "slow_noise": slow_noise}

    def _limited(self, request: WorkloadRequest) -> set[str]:
        """Return the configurations of which most trials ran at the limit of the load."""
        return {label for workload, label in self.limited if workload == request.label}

    def _uneven(self, request: WorkloadRequest) -> set[str]:
        """Return the configurations with an imbalance of a covariate."""
        of_workload = (c.imbalance for c in self.covariates if c.workload == request.label)
        return {imbalance.configuration for imbalance in of_workload if imbalance}


def compute_shared_level(study: Study, values: Sequence[CovariateValues]) -> FamilyOfTests:
    """The level of every test of the study, those of its covariates included."""
    guards = sum(len(request.figures) - 1 for request in study.workloads)
    pairs = study.comparisons + study.comparisons // len(study.workloads) * guards
    return FamilyOfTests(len(study.workloads), pairs, covariates=count_tests(values))


MEANINGS = {
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
"""Each flag with its meaning for the verdict, and the next step."""

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
        (d.workload, d.configuration, f"{d.disturbance} in {trials}: {d.sentence}")
        for d in report.disturbed
        for trials in [format_count(d.trials, "trial")]
    ]
    rows = [*flagged, *disturbed]
    raised = {text for _, _, text in flagged}
    notes = [f"{flag.capitalize()}: {MEANINGS[flag]}" for flag in Flag if flag in raised]
    if disturbed:
        notes.append(_DISTURBED)
    known = (
        "Flags change no verdict and exclude no data. With independent normal noise, a study "
        f"raises any flag of its tests with a probability of at most {format_percent(LEVEL)}."
    )
    table = TextTable("", ("workload", report.noun, "flag"), rows, names=2, words=1)
    return Section("flags", "Caveats", (*notes, known), tables=(table,)) if rows else None


def _list_flags(report: Report) -> Iterator[tuple[str, str, str]]:
    for workload in report.workloads:
        for flag in workload.flags:
            yield workload.label, "all", str(flag)
        slow = not {Flag.DRIFT, Flag.AUTOCORRELATION}.isdisjoint(workload.flags)
        for verdicts in list_verdicts([workload]):
            guard = f", {verdicts.figure.name}" if verdicts.is_guard else ""
            for result in verdicts.results:
                texts = list(map(str, result.flags))
                if slow and (noise := result.slow_noise) and noise.is_unequal:
                    ratio, high = (
                        "∞" if end is None else f"{end:.2f}" for end in (noise.ratio, noise.high)
                    )
                    within = f"{ratio} [{noise.low:.2f}, {high}]"
                    as_strongly = "times as strongly as the baseline"
                    texts.insert(0, f"feels slow noise {within} {as_strongly}")
                for text in texts:
                    yield f"{workload.label}{guard}", result.configuration, text


_MOST = 0.5
"""Share of the counted trials of a configuration that ran at a cap, from which it did."""


def find_limited(rows: Iterable[TrialRow]) -> frozenset[tuple[str, str]]:
    """Return workload and configuration of those with most counted trials at a rate cap."""
    at_cap: dict[tuple[str, str], list[bool]] = {}
    for row in rows:
        if row.counts:
            is_at_cap = at_cap.setdefault((row.workload, row.configuration), [])
            is_at_cap.append(row.summary is not None and ran_at_cap(row.summary))
    return frozenset(key for key, at_caps in at_cap.items() if sum(at_caps) >= _MOST * len(at_caps))
