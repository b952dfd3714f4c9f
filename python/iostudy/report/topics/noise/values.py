"""Noise of a workload, and the effects that a study detects with it."""

from __future__ import annotations

from pydantic import Field, FiniteFloat

from iostudy.report.base import Span, Value
from iostudy.results.noise_causes import NoiseCause


class NoiseReport(Value):
    """The noise of one workload; numbers in intervals are what the ends of its own lead to."""

    sd: FiniteFloat
    """Standard deviation of paired log-ratios: 0.06 is about 6 %."""
    interval: Span
    """The standard deviation's own, at 95 %."""
    margin: FiniteFloat
    """The study's."""
    max_blocks: int
    reachable: FiniteFloat | None
    """The smallest difference that ``max_blocks`` blocks find with power 0.8; None: any is less."""
    reachable_interval: Span | None
    blocks: int
    """Blocks that find a difference of the margin with power 0.8; can be more than the most."""
    blocks_low: int
    blocks_high: int
    sentence: str = Field(serialization_alias="told")
    """The noise in a sentence."""


class NoiseCauseReport(Value):
    """A named cause of the noise of one workload."""

    cause: NoiseCause
    share: FiniteFloat
    """Share of the variance, 0 to 1. The shares of all causes do not count twice."""
    interval: Span
    """The share's, at 95 %."""
    minimum: FiniteFloat
    """The smallest value of its indicator in any trial, in the unit that ``evidence`` names."""
    maximum: FiniteFloat
    correlation: FiniteFloat
    """Of the indicator and the log figure, larger is better, without block and configuration
    effects."""
    p: FiniteFloat
    """The p value of its selection."""
    process: str
    """The busiest process of others, where that is the cause; otherwise empty."""
    period_seconds: FiniteFloat | None
    """The period of that process; null without one."""
    evidence: str
    remedy: str


class NoiseCausesReport(Value):
    """The causes of the noise of one workload, the largest first."""

    workload: str
    trials: int
    """Counted trials with telemetry."""
    causes: tuple[NoiseCauseReport, ...]
    unexplained: FiniteFloat
    """Share of the variance without a named cause, 0 to 1."""
    examined: tuple[NoiseCause, ...]
    """Causes whose indicators were known and varied. The others were not recorded or constant."""
