"""Document of ``iostudy power --json``: power and duration of a study."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat

from iostudy.analysis.verdict import Verdict
from iostudy.report.base import FigureDescription, Span, Value
from iostudy.report.topics.noise.values import NoiseDecompositionReport, PowerEstimateReport


class AaResult(Value):
    """The comparison of two labels of the same configuration."""

    change: FiniteFloat
    """Observed change, as a fraction."""
    interval: Span | None
    """Its confidence interval; null if unknown."""
    verdict: Verdict
    """Better or worse is a false winner."""


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
    figure: FigureDescription
    """The figure that decides."""
    noise: PowerEstimateReport
    """Its noise and minimum detectable effect."""
    same: AaResult
    """Verdict of the A/A comparison."""
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

    schema_name: Literal["iostudy.power/1"] = Field(
        default="iostudy.power/1", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
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
