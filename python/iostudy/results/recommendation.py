"""Recommendation of a configuration, shared by report and persist (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from statistics import fmean

from iostudy.analysis.verdict import Verdict
from iostudy.results.comparisons import ComparisonResult, exclude_bounds
from iostudy.study.model import Study


def is_undecided(study: Study, result: ComparisonResult) -> bool:
    """Return whether another block may still decide the comparison."""
    undecided = result.comparison.verdict is Verdict.INCONCLUSIVE
    return undecided and result.comparison.blocks < study.decide.max_blocks


def recommend(study: Study, compared: Iterable[ComparisonResult]) -> str | None:
    """Return the best configuration that is better on some workload and worse on none.

    The best has the highest weighted mean log-ratio over the workloads. Bounds are excluded. None
    if no configuration is better. The result can change while a comparison is undecided.
    """
    by_label: dict[str, list[ComparisonResult]] = {}
    for result in exclude_bounds(compared):
        by_label.setdefault(result.configuration, []).append(result)
    better = {
        label: fmean(
            [result.comparison.estimate for result in own],
            [study.decide.weight(result.workload) for result in own],
        )
        for label, own in by_label.items()
        if is_better([result.comparison.verdict for result in own])
    }
    return max(better, key=lambda label: better[label], default=None)


def is_better(verdicts: Collection[Verdict | None]) -> bool:
    """Return whether the verdicts on several workloads favour a configuration."""
    return Verdict.BETTER in verdicts and Verdict.WORSE not in verdicts
