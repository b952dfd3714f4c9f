"""Values of the combined ranking."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Span, Value


class RankRange(Value):
    """Range of the possible ranks of a configuration."""

    configuration: str
    """Label of the configuration."""
    best_rank: int
    """Best possible rank, from 1."""
    worst_rank: int
    """Worst possible rank."""


class RankedConfiguration(RankRange):
    """One configuration over all workloads.

    Fractions are changes of performance; positive is better.
    """

    baseline: bool
    """Whether it is the baseline."""
    from_mean: FiniteFloat | None
    """Change against the geometric mean of all configurations; null if most runs failed."""
    from_mean_interval: Span | None
    """Confidence interval of ``from_mean``; null if unknown."""
    change: FiniteFloat | None
    """Change against the baseline; null for the baseline, and if most runs failed."""
    interval: Span | None
    """Confidence interval of ``change``; null if unknown."""
    worst_workload: str
    """The workload with the lowest value relative to the geometric mean."""
    worst_from_mean: FiniteFloat | None
    """Change against the geometric mean on that workload; null if most runs failed."""


class RankedPair(Value):
    """Comparison of two configurations over all workloads."""

    configuration: str
    """Label of the first configuration."""
    other: str
    """Label of the second one."""
    change: FiniteFloat | None
    """Change of performance from ``other`` to ``configuration``, as a fraction; null if most runs
    failed."""
    interval: Span | None
    """Confidence interval of the change; null if unknown."""
    verdict: Verdict
    """Verdict on ``configuration`` against ``other``."""


class RankReversal(Value):
    """A pair whose order depends on the workload."""

    configuration: str
    """Label of the first configuration."""
    other: str
    """Label of the second one."""
    better_on: tuple[str, ...]
    """Workloads on which ``configuration`` is better."""
    worse_on: tuple[str, ...]
    """Workloads on which ``configuration`` is worse."""


class WorkloadRanking(Value):
    """Ranks on one workload, and its weight in the combined ranking."""

    workload: str
    """Label of the workload."""
    weight: FiniteFloat
    """Weight in the combined ranking, as a fraction of all weights."""
    ranks: tuple[RankRange, ...]
    """Rank ranges of all configurations."""


class RankingReport(Value):
    """Combined ranking over all workloads."""

    answer: str
    """The ranking in a sentence."""
    best: tuple[str, ...]
    """Configurations that may be the best: none is shown to be better than them."""
    single_order: bool
    """False if another configuration is better than one of the best on some workload."""
    ranked: tuple[RankedConfiguration, ...]
    """All configurations, the best first."""
    pairs: tuple[RankedPair, ...]
    """All pairs of configurations."""
    crossings: tuple[RankReversal, ...]
    """Pairs whose order depends on the workload."""
    workloads: tuple[WorkloadRanking, ...]
    """The ranking of each workload."""
