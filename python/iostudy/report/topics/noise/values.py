"""Noise of a workload, and the effects that a study detects with it."""

from __future__ import annotations

from pydantic import Field, FiniteFloat

from iostudy.report.base import Span, Value


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
