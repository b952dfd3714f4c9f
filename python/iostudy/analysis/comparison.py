"""Comparison of a configuration with the baseline over paired blocks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from iostudy.analysis.decision import (
    Outcomes,
    count_missing_orders,
    decide,
    estimate_shown,
    has_rare_slow_runs,
    interval_ends,
    is_balanced,
)
from iostudy.analysis.distributions import Array, Flags
from iostudy.analysis.paired import Interval, PairedRuns
from iostudy.analysis.rule import Rule
from iostudy.analysis.slow_runs import SlowRuns, find_slow_runs
from iostudy.analysis.spending import AnalysisMethod
from iostudy.analysis.verdict import EstimatedDifference, Verdict, exceeds_margin

_ROUNDING = 1e-13
"""Rounding error of a difference of two logarithms."""


@dataclass(frozen=True)
class Comparison(EstimatedDifference):
    """A configuration compared with the baseline over ``blocks`` paired blocks.

    ``estimate`` is the typical difference: where T is zero, in earlier ledgers the mean. ``sd`` is
    that of the log-ratios; NaN with fewer than two, and after a failed run. ``blocks_needed`` is
    the total number of blocks that would probably decide an inconclusive comparison, more than
    ``max_blocks`` for a futile one; None where no standard deviation is known. ``fragile``:
    Student's t does not give the final verdict. ``futile``: the rest of the blocks would hardly
    add a verdict, so that the comparison ends. ``is_not_worse`` is the one-sided result, whatever
    the verdict. ``slow`` and ``baseline_slow`` are the slow runs of both.
    """

    blocks: int
    sd: float
    blocks_needed: int | None
    fragile: bool
    futile: bool = False
    is_not_worse: bool = False
    slow: SlowRuns | None = None
    baseline_slow: SlowRuns | None = None

    @property
    def is_open(self) -> bool:
        """Whether further blocks may still decide it; after the last one it stays as it is."""
        return not (self.verdict.is_final or self.futile)


def describe_runs(
    runs: PairedRuns, ended: Outcomes, *, higher_is_better: bool, rule: Rule
) -> tuple[Comparison, ...]:
    """Return the comparison of each pair (row) whose verdict `decide_runs` gave."""
    baselines, others = np.atleast_2d(runs.baseline, runs.other)
    after = None if runs.after is None else np.atleast_2d(runs.after)
    described = _describe(others - baselines, ended, rule, after, higher_is_better=higher_is_better)
    return tuple(
        replace(
            comparison,
            slow=find_slow_runs(other[: comparison.blocks], rule.margin, rule.risk),
            baseline_slow=find_slow_runs(baseline[: comparison.blocks], rule.margin, rule.risk),
        )
        for comparison, baseline, other in zip(described, baselines, others, strict=True)
    )


def decide_runs(runs: PairedRuns, rule: Rule, before: Outcomes | None = None) -> Outcomes:
    """Return the verdict of each pair, by the runs up to the last analysis.

    ``before`` is what it returned for the first of these runs. A study with one level is decided
    by its last analysis alone.
    """
    if rule.method is AnalysisMethod.CONSTANT_LEVEL:
        before = None
    sample = runs.first(rule.last_look(runs.other.shape[-1]))
    baseline, other = np.atleast_2d(sample.baseline, sample.other)
    ready = None
    if rule.by_scores and sample.after is not None:
        ready = is_balanced(np.atleast_2d(sample.after))
    rare = None
    if rule.rare is not None:
        since = 0 if before is None else int(before.blocks.max())
        lost = None if sample.lost is None else np.atleast_2d(sample.lost)
        rare = has_rare_slow_runs(baseline, other, rule, lost=lost, since=since)
    return decide(other - baseline, rule, ready=ready, rare=rare, before=before)


def compare_ratios(ratios: Array, *, higher_is_better: bool, rule: Rule) -> Comparison:
    """Compare two configurations by their paired log-ratios, one per block, positive if better.

    Blocks after the last analysis have to wait for the next one.
    """
    used = ratios[None, : rule.last_look(len(ratios))]
    (described,) = _describe(used, decide(used, rule), rule, higher_is_better=higher_is_better)
    return described


def _describe(
    ratios: Array,
    ended: Outcomes,
    rule: Rule,
    after: Flags | None = None,
    *,
    higher_is_better: bool,
) -> Iterator[Comparison]:
    shown = estimate_shown(ratios, ended, rule)
    for row, count in enumerate(map(int, ended.blocks)):
        used, verdict = ratios[row, :count], Verdict(str(ended.words[row]))
        futile = bool(ended.futile[row])
        estimate, low, high = map(float, shown[:, row])
        interval = Interval(low, high)
        sd = _standard_deviation(used)
        if verdict.is_final:
            needed = None
        elif after is not None and rule.by_scores and (low > 0 or high < 0):
            # A difference that lacks an order gets it in every second block.
            missing = int(count_missing_orders(after[row, :count])[-1])
            needed = max(count + 2 * missing, rule.min_blocks)
        elif math.isnan(sd):
            needed = None
        else:
            # A futile comparison needs more blocks than the study has.
            needed = rule.estimate_blocks_needed(sd, max(count, rule.max_blocks if futile else 0))
        yield Comparison(
            blocks=count,
            estimate=estimate,
            sd=sd,
            interval=interval,
            verdict=verdict,
            by_margin=exceeds_margin(verdict, interval, rule.delta),
            blocks_needed=needed,
            fragile=_is_fragile(used, verdict, rule),
            futile=futile,
            is_not_worse=bool(ended.not_worse[row]),
            higher_is_better=higher_is_better,
        )


def _standard_deviation(ratios: Array) -> float:
    """NaN with fewer than two, and after a failed run; 0 for what rounding alone makes differ."""
    if len(ratios) < 2 or not np.isfinite(ratios).all():
        return math.nan
    return float(np.std(ratios, ddof=1)) if np.ptp(ratios) > _ROUNDING else 0.0


def _is_fragile(ratios: Array, verdict: Verdict, rule: Rule) -> bool:
    """Whether Student's t does not give a final verdict; normal scores, if t decided.

    A comparison stops as soon as its interval barely suffices. At the same level the other test
    would barely fail in 40 % of normal samples. It therefore has the levels of a single analysis.
    """
    if not np.isfinite(ratios).all():
        return False
    other = AnalysisMethod.ERROR_SPENDING if rule.by_scores else AnalysisMethod.NORMAL_SCORES
    level = 2 * rule.share if verdict is Verdict.EQUIVALENT else rule.share
    ends = interval_ends(ratios[None], level, replace(rule, method=other))
    low, high = (float(end[0]) for end in ends)
    match verdict:
        case Verdict.BETTER:
            return low <= 0
        case Verdict.WORSE:
            return high >= 0
        case Verdict.EQUIVALENT:
            return max(-low, high) >= rule.delta
        case _:
            return False
