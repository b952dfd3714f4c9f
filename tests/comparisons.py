"""Comparisons of two configurations by their figures, or by their paired runs."""

from collections.abc import Sequence

from iostudy.analysis.comparison import Comparison, decide_runs, describe_runs
from iostudy.analysis.paired import PairedRuns
from iostudy.analysis.rule import Rule


def compare(
    baseline: Sequence[float],
    other: Sequence[float],
    *,
    higher_is_better: bool,
    rule: Rule,
    after: Sequence[bool] | None = None,
) -> Comparison:
    """Compare the figures of both, block by block in the same order; NaN is a failed run."""
    runs = PairedRuns.from_figures(baseline, other, higher_is_better=higher_is_better, after=after)
    return compare_runs(runs, higher_is_better=higher_is_better, rule=rule)


def compare_runs(runs: PairedRuns, *, higher_is_better: bool, rule: Rule) -> Comparison:
    ended = decide_runs(runs, rule)
    return describe_runs(runs, ended, higher_is_better=higher_is_better, rule=rule)[0]
