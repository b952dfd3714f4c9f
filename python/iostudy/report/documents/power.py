"""Power and duration of a study from an A/A measurement of its baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field, FiniteFloat

from iostudy.analysis.noise import estimate_power, minimum_detectable_effect, pool_noise
from iostudy.analysis.verdict import Verdict
from iostudy.errors import TrialError
from iostudy.report.base import JudgedChange, Span, Value, build_span, declare_schema, finite
from iostudy.report.formatting import UNKNOWN, format_change_interval, format_count, join_words
from iostudy.report.section import TextTable, make_table
from iostudy.report.topics.noise import (
    NoiseDecompositionReport,
    PowerEstimateReport,
    build_noise_decompositions,
    build_power_estimate,
    describe_causes,
    format_noise,
)
from iostudy.results.comparisons import (
    ComparisonResult,
    compare_configurations,
    decision_rule,
    exclude_guards,
)
from iostudy.results.continuation import estimate_block_time
from iostudy.results.power import PowerBasis, find_power_basis
from iostudy.results.recorded_study import RecordedStudy
from iostudy.study.model import Study
from iostudy.study.sections import MAX_BLOCKS
from iostudy.units import format_percent, format_seconds
from iostudy.workloads.definition import Figure


class BudgetReport(Value):
    """A duration, and the blocks that fit into it."""

    seconds: FiniteFloat
    """The duration in seconds."""
    blocks: int
    """Blocks of every workload that fit."""
    enough: bool
    """Whether they reach the study's minimum."""


class WorkloadPower(Value):
    """Noise, power and duration of one workload."""

    label: str
    """Label of the workload."""
    figure: Figure
    """The figure that decides."""
    noise: PowerEstimateReport
    """Its noise and minimum detectable effect."""
    same: JudgedChange
    """The comparison of two labels of the same configuration: better or worse is a false winner."""
    trial_seconds: FiniteFloat
    """Time of a trial with the baseline's settings and the pause after it, in seconds."""
    block_seconds: FiniteFloat
    """Time of a block with all configurations, file systems and data, in seconds."""
    budget_reachable: FiniteFloat | None
    """Minimum detectable effect of the budget's blocks, as a fraction; null with too few."""
    budget_reachable_interval: Span | None
    """``budget_reachable`` at both ends of the noise's interval; null if unknown."""


class PowerReport(Value):
    """Noise, power and duration of a study."""

    schema_name: Literal["iostudy.power/1"] = declare_schema("iostudy.power/1")
    study: str
    """Name of the study."""
    blocks: int
    """Blocks of every workload in the A/A study."""
    margin: FiniteFloat
    """Equivalence margin, as a fraction."""
    risk: FiniteFloat
    """Probability of any wrong verdict in the study, as a fraction."""
    min_blocks: int
    """Blocks before the first interim analysis."""
    max_blocks: int
    """Largest number of blocks of a comparison."""
    configurations: int
    """Number of configurations."""
    comparisons: int
    """Number of comparisons that share the risk."""
    workloads: tuple[WorkloadPower, ...]
    """Noise, power and duration by workload."""
    fewest_seconds: FiniteFloat
    """Duration if the first interim analysis decides all comparisons, in seconds."""
    most_seconds: FiniteFloat
    """Duration if every comparison takes all its blocks, in seconds."""
    budget: BudgetReport | None
    """What the requested duration is enough for; null without a request."""
    sentences: tuple[str, ...] = Field(serialization_alias="told")
    """The results in sentences."""
    noise_causes: tuple[NoiseDecompositionReport, ...] = ()
    """Variance decompositions of the A/A study's noise."""
    folder: str
    """Output folder of the A/A study."""


def build_power(
    planned: Study, same: RecordedStudy, budget_seconds: float | None = None
) -> PowerReport:
    """Return what a study can detect with the noise of ``same``, its baseline's A/A study.

    ``budget_seconds`` adds what a study of that duration can detect.
    """
    basis = find_power_basis(planned)
    study = basis.study
    decide = study.decide
    results = exclude_guards(compare_configurations(same.study, same.rows))
    costs = {}
    for result in results:
        cost = estimate_block_time(result.workload, same.rows)
        assert cost is not None, "the A/A is complete"
        costs[result.workload] = cost.trial_seconds, cost.block_seconds(study.configurations())
    round_seconds = math.fsum(block for _, block in costs.values())
    budget = None
    if budget_seconds is not None:
        blocks = min(MAX_BLOCKS, int(budget_seconds / round_seconds))
        budget = BudgetReport(
            seconds=budget_seconds, blocks=blocks, enough=blocks >= decide.min_blocks
        )
    report = PowerReport.copy_from(
        decide,
        study=study.name,
        blocks=same.study.decide.max_blocks,
        configurations=len(study.configurations()),
        comparisons=study.comparisons,
        workloads=tuple(_workload(basis, r, *costs[r.workload], budget) for r in results),
        fewest_seconds=decide.min_blocks * round_seconds,
        most_seconds=decide.max_blocks * round_seconds,
        budget=budget,
        sentences=(),
        noise_causes=build_noise_decompositions(same.study, same.rows),
        folder=same.place,
    )
    return report.model_copy(update={"sentences": tuple(_sentences(report, basis))})


def build_power_table(report: PowerReport) -> TextTable:
    """A line for each workload."""
    return make_table(
        {
            "workload": workload.label,
            **format_noise(workload.noise),
            "time per block": format_seconds(workload.block_seconds),
            "A/A difference": format_change_interval(workload.same.change, workload.same.interval),
        }
        for workload in report.workloads
    )


def _workload(
    basis: PowerBasis,
    result: ComparisonResult,
    trial_seconds: float,
    block_seconds: float,
    budget: BudgetReport | None,
) -> WorkloadPower:
    study, comparison = basis.study, result.comparison
    noise = pool_noise([(comparison.sd * basis.noise_ratio, comparison.blocks)])
    if noise is None:
        raise TrialError(
            f"the noise of {result.workload}",
            found="the baseline failed in one of its runs",
            where=str(study.name),
            remedy="run it by hand, and see why it fails; then measure again",
        )
    known = estimate_power(noise, decision_rule(study))
    within: Sequence[float] = ()
    if budget is not None and budget.enough:
        # What the budget's blocks reach, and at both ends of the noise's interval.
        rule = replace(decision_rule(study), max_blocks=budget.blocks)
        within = [minimum_detectable_effect(sd, rule) for sd in (noise.sd, noise.low, noise.high)]
    return WorkloadPower(
        label=result.workload,
        figure=result.figure,
        noise=build_power_estimate(known, lambda count: count * block_seconds),
        same=JudgedChange.copy_from(comparison, interval=comparison.change_interval),
        trial_seconds=trial_seconds,
        block_seconds=block_seconds,
        budget_reachable=finite(within[0]) if within else None,
        budget_reachable_interval=build_span((within[1], within[2])) if within else None,
    )


def _sentences(report: PowerReport, basis: PowerBasis) -> Iterator[str]:
    if basis.explanation:
        yield basis.explanation
    yield from (f"{workload.label}: {workload.noise.sentence}." for workload in report.workloads)
    for causes in report.noise_causes:
        yield from describe_causes(causes)
    least, most = map(format_seconds, (report.fewest_seconds, report.most_seconds))
    trials = f"{format_count(report.configurations, 'configuration')} of each workload"
    yield (
        f"The study takes about {least} if every comparison ends after {report.min_blocks} blocks, "
        f"and {most} at most ({report.max_blocks} blocks, {trials})."
    )
    if report.budget is not None:
        yield _explain_budget(report, report.budget, has_blocks=basis.has_blocks)
    winners = [w for w in report.workloads if w.same.verdict in (Verdict.BETTER, Verdict.WORSE)]
    if not winners:
        yield "The A/A comparison found no difference, as expected."
        return
    where = join_words(
        [f"{w.label} ({format_change_interval(w.same.change, w.same.interval)})" for w in winners]
    )
    yield (
        f"The A/A comparison found a difference on {where}. By chance that happens in at most "
        f"{format_percent(report.risk)} of cases: measure again. If it persists, one trial "
        "of a block affects the next, and verdicts of this study are not valid."
    )


def _explain_budget(report: PowerReport, budget: BudgetReport, *, has_blocks: bool) -> str:
    time, blocks = format_seconds(budget.seconds), format_count(budget.blocks, "block")
    if not budget.enough:
        return (
            f"{time} is enough for {blocks} of each workload, fewer than the "
            f"minimum of {report.min_blocks}: remove configurations or workloads, or shorten "
            "the runs."
        )
    effects = [workload.budget_reachable for workload in report.workloads]
    texts = [UNKNOWN if effect is None else format_percent(effect) for effect in effects]
    labels = [workload.label for workload in report.workloads]
    reach = join_words([f"{text} on {label}" for text, label in zip(texts, labels, strict=True)])
    setting = f" (blocks: [{report.min_blocks}, {budget.blocks}])" if has_blocks else ""
    return f"{time} is enough for {blocks} of each workload{setting}, which can detect {reach}."
