"""Which configuration of a study is worth keeping (pure): the rule of report and persist."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from iostudy.analysis.verdict import Verdict
from iostudy.results.comparisons import ComparisonResult, exclude_bounds
from iostudy.study.model import Study


def is_undecided(study: Study, standing: ComparisonResult) -> bool:
    """Whether another block may still decide the comparison."""
    undecided = standing.comparison.verdict is Verdict.INCONCLUSIVE
    return undecided and standing.comparison.blocks < study.decide.max_blocks


def recommend(study: Study, compared: Iterable[ComparisonResult]) -> str | None:
    """Better than the baseline in at least one workload and worse in none; of these the best.

    Bounds are none to choose from.

    The best has the highest mean log-ratio over the workloads, with their weights. None if no
    configuration was shown to be better; while a comparison is open, it may be another one in the
    end.
    """
    by_label: dict[str, list[ComparisonResult]] = {}
    for standing in exclude_bounds(compared):
        by_label.setdefault(standing.configuration, []).append(standing)
    better = {
        label: fmean(
            [standing.comparison.estimate for standing in own],
            [study.decide.weight(standing.workload) for standing in own],
        )
        for label, own in by_label.items()
        if _is_better({standing.comparison.verdict for standing in own})
    }
    return max(better, key=lambda label: better[label], default=None)


def _is_better(verdicts: set[Verdict]) -> bool:
    return Verdict.BETTER in verdicts and Verdict.WORSE not in verdicts
