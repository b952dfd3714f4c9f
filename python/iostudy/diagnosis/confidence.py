"""Confidence of a finding, and the thresholds that give it (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Confidence(StrEnum):
    """How far a finding can be trusted, by the rules of docs/telemetry/bottlenecks.md."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


_ORDER = (Confidence.LOW, Confidence.MEDIUM, Confidence.HIGH)


@dataclass(frozen=True)
class ConfidenceThresholds:
    """The values from which a figure indicates a bottleneck with low, medium, high confidence."""

    low: float
    medium: float
    high: float

    def grade(self, value: float) -> Confidence | None:
        """Return the confidence that ``value`` gives; None below the lowest threshold."""
        reached = [value >= step for step in (self.low, self.medium, self.high)]
        return _ORDER[sum(reached) - 1] if reached[0] else None


def lowest_confidence(*confidences: Confidence) -> Confidence:
    """Return the lowest of them: a chain is as strong as its weakest link."""
    return min(confidences, key=_ORDER.index)
