"""The rows of an A/A of a study's baseline -> what the study itself can decide, and when (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from iostudy.analysis.noise import Noise, outlook, pooled_noise, reachable_margin
from iostudy.analysis.verdict import Verdict
from iostudy.ledger.rows import TrialRow
from iostudy.report import wording
from iostudy.report.columns import TextTable
from iostudy.report.finite import finite, span
from iostudy.report.measured import figure_told
from iostudy.report.noise import cells, noise_told
from iostudy.report.values.power import BudgetTold, PowerTold, SameTold, WorkloadPower
from iostudy.results.block_time import estimate_block_time
from iostudy.results.comparisons import ComparisonResult, compare_configurations, rule_of
from iostudy.results.screening import share_of_pair
from iostudy.study.confirmation import foreseen
from iostudy.study.model import Study
from iostudy.study.search import Search
from iostudy.study.sections import MAX_BLOCKS
from iostudy.units import format_percent, format_seconds


@dataclass(frozen=True)
class Same:
    """What an A/A has measured: its study, and where its output is."""

    study: Study
    rows: Sequence[TrialRow]
    folder: str


def power(asked: Study, same: Same, budget_seconds: float | None = None) -> PowerTold:
    """What a study can decide with the noise of the A/A of its baseline, which is complete.

    Of a search that is what its confirmation can, of a screening what its effects need, each of
    which rests on all runs. ``budget_seconds`` asks what a study can decide
    that may take so long.
    """
    study = foreseen(asked)
    found = compare_configurations(same.study, same.rows)
    costs = {each.workload: _cost(study, each.workload, same.rows) for each in found}
    round_seconds = math.fsum(block for _, block in costs.values())
    budget = None if budget_seconds is None else _budget(study, round_seconds, budget_seconds)
    told = PowerTold(
        study=study.name,
        blocks=same.study.decide.max_blocks,
        margin=study.decide.margin,
        risk=study.decide.risk,
        min_blocks=study.decide.min_blocks,
        max_blocks=study.decide.max_blocks,
        configurations=len(study.configurations()),
        comparisons=study.comparisons,
        workloads=tuple(_workload(study, each, *costs[each.workload], budget) for each in found),
        fewest_seconds=study.decide.min_blocks * round_seconds,
        most_seconds=study.decide.max_blocks * round_seconds,
        budget=budget,
        told=(),
        folder=same.folder,
    )
    return told.model_copy(update={"told": (*_of_search(asked.search), *_sentences(told))})


def table(told: PowerTold) -> TextTable:
    """A line for each workload."""
    heads = (
        "workload",
        "noise",
        f"found in {told.max_blocks} blocks",
        f"blocks to find {format_percent(told.margin)}",
        "time of a block",
        "the same again",
    )
    rows = [
        (
            each.label,
            *cells(each.noise),
            format_seconds(each.block_seconds),
            f"{wording.change_within(each.same.change, each.same.interval)}",
        )
        for each in told.workloads
    ]
    return TextTable("", heads, rows, names=1)


def _cost(study: Study, workload: str, rows: Sequence[TrialRow]) -> tuple[float, float]:
    """Seconds of a trial, and of a block of the study."""
    cost = estimate_block_time(workload, rows)
    assert cost is not None, "the A/A is complete"
    return cost.trial_seconds, cost.block_seconds(study.configurations())


def _budget(study: Study, round_seconds: float, seconds: float) -> BudgetTold:
    blocks = min(MAX_BLOCKS, int(seconds / round_seconds))
    return BudgetTold(seconds=seconds, blocks=blocks, enough=blocks >= study.decide.min_blocks)


def _workload(
    study: Study,
    standing: ComparisonResult,
    trial_seconds: float,
    block_seconds: float,
    budget: BudgetTold | None,
) -> WorkloadPower:
    comparison = standing.comparison
    noise = pooled_noise([(comparison.sd * share_of_pair(study), comparison.blocks)])
    assert noise is not None, "the A/A is complete"
    known = outlook(noise, rule_of(study))
    within = _within(study, noise, budget)
    return WorkloadPower(
        label=standing.workload,
        figure=figure_told(standing.figure),
        noise=noise_told(known, lambda count: count * block_seconds),
        same=SameTold(
            change=comparison.change,
            interval=span(comparison.change_interval),
            verdict=comparison.verdict,
        ),
        trial_seconds=trial_seconds,
        block_seconds=block_seconds,
        budget_reachable=finite(within[0]) if within else None,
        budget_reachable_interval=span(within[1:]) if within else None,
    )


def _within(
    study: Study, noise: Noise, budget: BudgetTold | None
) -> tuple[float, float, float] | None:
    """The margin that the budget's blocks reach, and those of the ends of the noise's interval."""
    if budget is None or not budget.enough:
        return None
    rule = replace(rule_of(study), max_blocks=budget.blocks)
    own, low, high = (reachable_margin(sd, rule) for sd in (noise.sd, noise.low, noise.high))
    return own, low, high


def _of_search(search: Search | None) -> Iterator[str]:
    if search is not None:
        yield (
            "What decides is the confirmation of the search, of which all here is told; the search "
            f"before it takes {search.budget}."
        )


def _sentences(told: PowerTold) -> Iterator[str]:
    yield from (f"{each.label}: {each.noise.told}." for each in told.workloads)
    least, most = format_seconds(told.fewest_seconds), format_seconds(told.most_seconds)
    trials = f"{wording.counted(told.configurations, 'configuration')} of each workload"
    yield (
        f"The study takes about {least} if all is decided after {told.min_blocks} blocks, and "
        f"{most} at most ({told.max_blocks} blocks, {trials})."
    )
    if told.budget is not None:
        yield _of_budget(told, told.budget)
    yield _of_same(told)


def _of_budget(told: PowerTold, budget: BudgetTold) -> str:
    time, blocks = format_seconds(budget.seconds), wording.counted(budget.blocks, "block")
    if not budget.enough:
        return (
            f"{time} is enough for {blocks} of each workload, fewer than the {told.min_blocks} "
            "that the study wants at least: leave out configurations or workloads, or make runs "
            "shorter."
        )
    reach = wording.joined([_reached(each) for each in told.workloads])
    asked = f"blocks: [{told.min_blocks}, {budget.blocks}]"
    return f"{time} is enough for {blocks} of each workload ({asked}), which can tell {reach}."


def _reached(workload: WorkloadPower) -> str:
    known = workload.budget_reachable
    return f"{wording.UNKNOWN if known is None else format_percent(known)} on {workload.label}"


def _of_same(told: PowerTold) -> str:
    winners = [w for w in told.workloads if w.same.verdict in (Verdict.BETTER, Verdict.WORSE)]
    if not winners:
        return "The same under two labels was not told apart, as it should be."
    where = wording.joined(
        [f"{w.label} ({wording.change_within(w.same.change, w.same.interval)})" for w in winners]
    )
    return (
        f"The same under two labels was told apart on {where}. By chance that happens in at most "
        f"{format_percent(told.risk)} of cases: measure once more; if it stays, one trial of a "
        "block disturbs the next, and verdicts of this study mean nothing yet."
    )
