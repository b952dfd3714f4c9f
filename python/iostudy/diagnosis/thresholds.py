"""How sure a figure makes of a limit, and how a figure is put into words (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from iostudy.diagnosis.bottleneck import Confidence, Evidence
from iostudy.telemetry.summary import Figures

_ORDER = (Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


@dataclass(frozen=True)
class ConfidenceThresholds:
    """From which value on a figure speaks for a limit with low, medium and high confidence."""

    low: float
    medium: float
    high: float

    def grade(self, value: float) -> Confidence | None:
        """How sure ``value`` makes of the limit; None if it does not speak for it."""
        reached = [value >= step for step in (self.low, self.medium, self.high)]
        return _ORDER[sum(reached) - 1] if reached[0] else None


def at_most(*confidences: Confidence) -> Confidence:
    """The lowest of them: a chain is as strong as its weakest link."""
    return min(confidences, key=_ORDER.index)


def number(value: float) -> str:
    """``value`` for a reader: whole from 10 on, else with one decimal."""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}".removesuffix(".0")


def told(figures: Figures, figure: str, of: str, unit: str, words: str) -> Evidence:
    """The figure as evidence; ``words`` say it, with its number in place of ``{}``."""
    value = figures[figure]
    return Evidence(figure, of, value, unit, words.format(number(value)))
