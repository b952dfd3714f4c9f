"""Evidence of a finding, its confidence, and the thresholds that several rules share (pure)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import PlainSerializer, WithJsonSchema

from iostudy.telemetry.summary import Figures

Number = Annotated[
    float,
    PlainSerializer(lambda value: value if math.isfinite(value) else None, when_used="json"),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "null"}]}),
]
"""A number; JSON has null for what is infinite or not a number."""


@dataclass(frozen=True)
class Evidence:
    """A figure that a diagnosis rests on."""

    __pydantic_config__: ClassVar = {"use_attribute_docstrings": True, "extra": "forbid"}

    figure: str
    """Name of the figure."""
    of: str
    """Device, interface, mount or process of the figure; empty for the whole host."""
    value: Number
    """Value of the figure; null if unknown."""
    unit: str
    """Unit of the value."""
    says: str
    """The figure in words, with its unit."""

    @classmethod
    def read(cls, figures: Figures, figure: str, of: str, unit: str, words: str) -> Evidence:
        """Return the evidence of one figure; its number replaces ``{}`` in ``words``."""
        value = figures[figure]
        number = format_busy(value) if figure == "%util" else format_number(value)
        return cls(figure, of, value, unit, words.format(number))


def format_number(value: float) -> str:
    """Format ``value`` for a reader: an integer from 10 on, else one decimal."""
    return f"{value:.0f}" if value >= 10 else f"{value:.1f}".removesuffix(".0")


def format_busy(percent: float) -> str:
    """Format %util: the kernel may count more time than has passed, but none is busier than that.

    A request that began before the measured time counts in full when it ends.
    """
    return format_number(min(percent, 100.0))


class Confidence(StrEnum):
    """How far a finding can be trusted, by the rules of docs/telemetry/bottlenecks.md."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @classmethod
    def lowest(cls, *confidences: Confidence) -> Confidence:
        """Return the lowest of them: a chain is as strong as its weakest link."""
        return min(confidences, key=_ORDER.index)


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


UTILIZATION = ConfidenceThresholds(80, 90, 95)
"""Percent of the time in which a device or a core was busy; the rest is start and end of the run.
By Amdahl's law a shorter rest saves at most that share: a fifth, a tenth, a twentieth."""
ELASTICITY = ConfidenceThresholds(40, 50, 65)
"""Percent by which the throughput changes when a resource changes by one percent, as the shares of
time suggest it. A resource limits a run from one half on; the calibration chose the last value."""
MOSTLY_IDLE = 50.0
"""Percent of the time. Below this a faster device saves less than half of the run (Amdahl)."""
MINIMUM_HELD = 5.0
"""Percent of the time. A bottleneck that held the run up for less is not reported: by Amdahl's law
its removal gains hardly more than that."""
MINIMUM_CAUSE_SHARE = 0.5
"""Share of the time of its consequence that a cause must have held. A shorter one is no cause."""
MINIMUM_RUN_SECONDS = 0.2
"""A shorter run is not diagnosed: it has under 20 ticks of CPU time and at most 2 samples."""
SHORT_RUN_SECONDS = 0.5
"""Seconds. Every finding of a shorter run has low confidence: CPU time comes in ticks of 10 ms,
processes are scanned once a second, and start and end are a large part of the run."""
MINIMUM_MEASURED = 50.0
"""Percent of the recording that the workload measured. Below this most of the telemetry belongs to
something else, such as the start of a Java process, and need not limit the workload."""
CPU_STARVED = 0.2
"""Share of the workload's operations that waited for a CPU. From here on there were too few CPUs.
Thread states are sampled, and a short run has few samples: with 25 of them the standard error of a
share of 0.2 is 0.08, which separates it from 0."""
MAJORITY = 0.5
"""Share of the transferred data from which on it counts as the workload's, or as others'. A choice:
more than all others together."""
