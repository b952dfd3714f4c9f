"""Which configuration may be the best of all."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.values.base import Span, Value


class RanksTold(Value):
    """The ranks that a configuration may have, counted from 1."""

    configuration: str
    best_rank: int
    worst_rank: int


class RankedTold(RanksTold):
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
    """Where it is the least against the geometric mean of all."""
    worst_from_mean: FiniteFloat
    """How much that is."""


class PairTold(Value):
    """How much better ``configuration`` is than ``other`` on all workloads together."""

    configuration: str
    other: str
    change: FiniteFloat
    interval: Span | None
    verdict: Verdict


class CrossingTold(Value):
    """A pair whose order depends on the workload."""

    configuration: str
    other: str
    better_on: tuple[str, ...]
    worse_on: tuple[str, ...]


class WorkloadRanksTold(Value):
    """The ranks on one workload, and its share in those on all together."""

    workload: str
    weight: FiniteFloat
    ranks: tuple[RanksTold, ...]


class RankingTold(Value):
    """Which configuration may be the best on all workloads together, and the ranks of each."""

    answer: str
    best: tuple[str, ...]
    """Those that no other is shown to be better than."""
    single_order: bool
    """False where on some workload another is better than one of the best."""
    ranked: tuple[RankedTold, ...]
    """The best first."""
    pairs: tuple[PairTold, ...]
    crossings: tuple[CrossingTold, ...]
    workloads: tuple[WorkloadRanksTold, ...]
