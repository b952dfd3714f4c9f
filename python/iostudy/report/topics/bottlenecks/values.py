"""Bottlenecks of configurations, timelines and disturbances."""

from __future__ import annotations

from enum import StrEnum

from pydantic import FiniteFloat

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.confidence import Confidence
from iostudy.report.base import Value
from iostudy.report.topics.bottlenecks.diagnosis_values import EvidenceReport


class TimelineSeries(Value):
    """Utilization of one part over a trial."""

    name: str
    """Name of the resource."""
    of: str
    """Device of the series; empty for the whole host."""
    values: tuple[FiniteFloat | None, ...]
    """Utilization in percent, one for each of the timeline's ``seconds``; null if unknown."""


class Timeline(Value):
    """Utilization of resources over a trial, in at most 60 intervals."""

    seconds: tuple[FiniteFloat, ...]
    """End of each interval since the start of the recording."""
    series: tuple[TimelineSeries, ...]
    """Utilization by resource."""


class BottleneckReport(Value):
    """Bottleneck of one configuration on one workload, over its counted trials."""

    workload: str
    """Label of the workload."""
    configuration: str
    """Label of the configuration."""
    trials: int
    """Number of counted trials."""
    limits: dict[Bottleneck, int]
    """Number of trials by bottleneck, the most frequent first."""
    limit: Bottleneck
    """Bottleneck of the typical trial."""
    of: str
    """Device, interface, mount or process of the bottleneck; empty for the whole host."""
    confidence: Confidence | None
    """Confidence in the bottleneck. Low if fewer than three trials in four share it, else that
    of the typical trial; null if it is unclear."""
    typical_confidence: Confidence | None
    """Confidence of the typical trial, as in its ``sentence``."""
    typical: int
    """Number of the typical trial.

    It has the most frequent limit, and a figure nearest the median of the configuration.
    """
    sentence: str
    """The diagnosis of the typical trial."""
    no_help: str
    """The most that a faster device could save, if three trials in four have another bottleneck;
    else empty."""
    busy: EvidenceReport | None
    """The largest utilization of a device in the typical trial; null if unknown."""
    evidence: tuple[EvidenceReport, ...]
    """Evidence from the typical trial."""
    timeline: Timeline | None
    """Timeline of the typical trial."""
    no_timeline: str
    """Why there is no timeline; empty with one, or if none was requested."""


class DisturbanceSource(StrEnum):
    """An external disturbance, not caused by the study's factors or workloads."""

    FOREIGN = "another process"
    STEAL = "the hypervisor"
    HEAT = "the heat of the CPU"


class DisturbanceReport(Value):
    """Counted trials that something outside the study limited."""

    workload: str
    """Label of the workload."""
    configuration: str
    """Label of the configuration."""
    disturbance: DisturbanceSource
    """The disturbance."""
    trials: int
    """Number of counted trials with it."""
    sentence: str
    """The first such trial in a sentence."""
