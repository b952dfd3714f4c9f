"""Recommendation of a configuration, shared by report and persist (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from iostudy.analysis.paired import PairedRuns
from iostudy.analysis.switchback.confirmation import Agreement, PairedMean, measure_agreement
from iostudy.analysis.verdict import Verdict
from iostudy.results.comparisons import (
    BlockFigures,
    ComparisonResult,
    decision_rule,
    exclude_bounds,
    exclude_guards,
)
from iostudy.study.mode import find_mode
from iostudy.study.model import Study


def is_undecided(study: Study, result: ComparisonResult) -> bool:
    """Return whether another block may still decide the comparison.

    Where the study is continued, a futile one may be decided, too.
    """
    comparison = result.comparison
    open_ = not comparison.verdict.is_final if study.is_continued else comparison.is_open
    left = comparison.blocks + result.lost_blocks < study.last_block
    return open_ and left and not is_met_guard(study, result)


def is_met_guard(study: Study, result: ComparisonResult) -> bool:
    """Return whether the goal wants no more of the comparison than it has shown: not worse."""
    wants_better = result.workload in study.goal.better and not result.is_guard
    return not wants_better and result.meets_guard


def recommend(study: Study, compared: Iterable[ComparisonResult]) -> str | None:
    """Return the best configuration that meets the goal of the study.

    None if no configuration meets it. The result can change while a comparison is undecided.
    """
    return next(iter(list_candidates(study, compared)), None)


def list_candidates(study: Study, compared: Iterable[ComparisonResult]) -> list[str]:
    """Return the configurations that meet the goal, the best first, without bounds.

    The best has the highest weighted mean log-ratio over the workloads.
    """
    by_label: dict[str, list[ComparisonResult]] = {}
    for result in exclude_bounds(compared):
        by_label.setdefault(result.configuration, []).append(result)
    weights = dict(zip((w.label for w in study.workloads), study.weights, strict=True))
    better = {
        label: fmean(
            [result.comparison.estimate for result in exclude_guards(results)],
            [weights[result.workload] for result in exclude_guards(results)],
        )
        for label, results in by_label.items()
        if meets_goal(study, results)
    }
    return sorted(better, key=lambda label: -better[label])


def meets_goal(study: Study, comparisons: Iterable[ComparisonResult]) -> bool:
    """Return whether the comparisons of one configuration show all that the goal requires.

    The further figures of every workload of the goal must not be worse.

    A screening has no goal: its proposal is confirmed by another study. The proposal is better on
    some workload and worse on none.
    """
    all_results = tuple(comparisons)
    results = {result.workload: result for result in exclude_guards(all_results)}
    if not find_mode(study).compares_configurations:
        verdicts = [result.comparison.verdict for result in results.values()]
        return Verdict.BETTER in verdicts and Verdict.WORSE not in verdicts
    goal = study.goal
    assert goal.not_worse is not None
    shown = [label for label in goal.better if label in results and results[label].meets_better]
    return (
        bool(shown)
        and all(label in results and results[label].meets_guard for label in goal.not_worse)
        and all(result.meets_guard for result in select_guards(study, all_results))
    )


def select_guards(
    study: Study, results: Iterable[ComparisonResult]
) -> tuple[ComparisonResult, ...]:
    """Return the results by further figures of the workloads of the goal."""
    concerned = {*study.goal.better, *(study.goal.not_worse or ())}
    return tuple(result for result in results if result.is_guard and result.workload in concerned)


def select_confirmations(
    study: Study, compared: Sequence[ComparisonResult]
) -> dict[str, tuple[str, ...]]:
    """Return the recommended configuration on every workload; empty without any."""
    recommended = recommend(study, compared)
    if recommended is None:
        return {}
    of_choice = (result for result in compared if result.configuration == recommended)
    return {result.workload: (recommended,) for result in of_choice}


def confirm(
    study: Study, result: ComparisonResult, figures: Mapping[tuple[str, str], BlockFigures]
) -> tuple[PairedMean, Agreement] | None:
    """Return the change in whole trials, a log-ratio of the figure, and how windows agree with it.

    ``figures`` are those of the trials. None with fewer than two blocks of either, or if a failed
    block leaves the windows without a standard deviation.
    """
    labels = study.baseline.label, result.configuration
    base, other = (figures.get((result.workload, label), {}) for label in labels)
    common, windows = sorted(base.keys() & other.keys()), result.comparison
    if min(len(common), windows.blocks) < 2 or math.isnan(windows.sd):
        return None
    ratios = PairedRuns.from_figures(
        [base[block] for block in common], [other[block] for block in common], higher_is_better=True
    ).differences
    trials = PairedMean(float(ratios.mean()), float(ratios.std(ddof=1)), len(ratios))
    estimate, shown = windows.estimate, windows.interval
    if not windows.higher_is_better:
        estimate, shown = -estimate, shown.mirrored()
    measured = PairedMean(estimate, windows.sd, windows.blocks)
    return trials, measure_agreement(trials, measured, shown, decision_rule(study).delta)
