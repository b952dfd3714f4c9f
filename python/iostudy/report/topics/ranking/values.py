"""Values of the combined ranking."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Span, Value


class RankRange(Value):
    """The ranks that a configuration may have, counted from 1."""

    configuration: str
    best_rank: int
    worst_rank: int


class RankedConfiguration(RankRange):
    """One configuration on all workloads together; positive fractions are better.

    They are of performance: of a figure of which more is better, or of the inverse of one of which
    less is better.
    """

    baseline: bool
    from_mean: FiniteFloat
    """Against the geometric mean of all configurations."""
    from_mean_interval: Span | None
    change: FiniteFloat | None
    """Against the baseline; None for itself."""
    interval: Span | None
    worst_workload: str
    """The workload with the lowest value relative to the geometric mean."""
    worst_from_mean: FiniteFloat
    """That value."""


class RankedPair(Value):
    """The advantage of ``configuration`` over ``other`` on all workloads together."""

    configuration: str
    other: str
    change: FiniteFloat
    interval: Span | None
    verdict: Verdict


class RankReversal(Value):
    """A pair whose order depends on the workload."""

    configuration: str
    other: str
    better_on: tuple[str, ...]
    worse_on: tuple[str, ...]


class WorkloadRanking(Value):
    """The ranks on one workload, and its share in those on all together."""

    workload: str
    weight: FiniteFloat
    ranks: tuple[RankRange, ...]


class RankingReport(Value):
    """The possibly best configurations on all workloads together, and the ranks of each."""

    answer: str
    best: tuple[str, ...]
    """Configurations that no other is shown to be better than."""
    single_order: bool
    """False where on some workload another is better than one of the best."""
    ranked: tuple[RankedConfiguration, ...]
    """The best first."""
    pairs: tuple[RankedPair, ...]
    crossings: tuple[RankReversal, ...]
    workloads: tuple[WorkloadRanking, ...]
