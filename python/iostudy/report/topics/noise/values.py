"""Noise of a workload, and the effects that a study detects with it."""

from __future__ import annotations

from pydantic import Field, FiniteFloat

from iostudy.report.base import Span, Value
from iostudy.results.noise_causes import NoiseCause


class PowerEstimateReport(Value):
    """Noise and minimum detectable effect of one workload."""

    sd: FiniteFloat
    """Standard deviation of paired log-ratios: 0.06 is about 6 %."""
    interval: Span
    """95 % confidence interval of the standard deviation."""
    margin: FiniteFloat
    """Equivalence margin of the study, as a fraction."""
    max_blocks: int
    """Largest number of blocks of a comparison."""
    reachable: FiniteFloat | None
    """Minimum detectable effect of ``max_blocks`` blocks at power 0.8, as a fraction; null if it
    is too large to express."""
    reachable_interval: Span | None
    """``reachable`` at both ends of ``interval``; null if an end is too large to express."""
    blocks: int
    """Blocks that detect a difference of the margin at power 0.8; may exceed ``max_blocks``."""
    blocks_low: int
    """``blocks`` at the lower end of ``interval``."""
    blocks_high: int
    """``blocks`` at the upper end of ``interval``."""
    sentence: str = Field(serialization_alias="told")
    """The noise in a sentence."""


class NoiseContributionReport(Value):
    """A cause of noise with its share of the variance of one workload."""

    cause: NoiseCause
    """The cause."""
    share: FiniteFloat
    """Share of the variance, 0 to 1. Causes that vary together divide their common share."""
    interval: Span
    """95 % confidence interval of the share."""
    minimum: FiniteFloat
    """Smallest value of the cause's indicator over the trials, in the unit in ``evidence``."""
    maximum: FiniteFloat
    """Largest value of the indicator over the trials, in the same unit."""
    correlation: FiniteFloat
    """Correlation of the indicator with the log figure, without block and configuration effects.
    The figure's sign is such that larger is better."""
    p: FiniteFloat
    """The p value at which the cause was selected."""
    process: str
    """The process outside the study with the largest share in the cause; empty without one."""
    period_seconds: FiniteFloat | None
    """Period of that process in seconds; null if it is not periodic."""
    evidence: str
    """Range of the indicator, its correlation and the process, in words."""
    remedy: str
    """How to reduce the cause."""


class NoiseDecompositionReport(Value):
    """Variance decomposition of one workload's noise."""

    workload: str
    """Label of the workload."""
    trials: int
    """Number of counted trials with telemetry."""
    causes: tuple[NoiseContributionReport, ...]
    """Causes with their shares, the largest first."""
    unexplained: FiniteFloat
    """Share of the variance without a known cause, 0 to 1."""
    examined: tuple[NoiseCause, ...]
    """Causes whose indicators were recorded and varied."""
