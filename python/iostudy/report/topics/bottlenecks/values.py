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
    of: str
    """The device that it is of; empty: the machine."""
    values: tuple[FiniteFloat | None, ...]
    """In percent, one for each of the timeline's ``seconds``; null if unknown."""


class Timeline(Value):
    """Utilization of the parts over a trial, at most 60 values each."""

    seconds: tuple[FiniteFloat, ...]
    """End of each interval since the start of the recording."""
    series: tuple[TimelineSeries, ...]


class BottleneckReport(Value):
    """Bottleneck of one configuration on one workload, over its counted trials."""

    workload: str
    configuration: str
    trials: int
    limits: dict[Bottleneck, int]
    """Number of trials by limit, the most frequent first."""
    limit: Bottleneck
    """The one of the typical trial."""
    of: str
    """The device, interface, mount or process that it is about; empty: the machine."""
    confidence: Confidence | None
    """Low where less than three trials in four share the limit, else that of the typical trial.
    None where the limit is unclear."""
    typical_confidence: Confidence | None
    """Confidence of the typical trial, as in its ``sentence``."""
    typical: int
    """Number of the typical trial.

    It has the most frequent limit, and a figure nearest the median of the configuration.
    """
    sentence: str
    """The diagnosis of the typical trial."""
    no_help: str
    """The most that a faster device could save; else empty.

    Present if three trials in four have another limit.
    """
    busy: EvidenceReport | None
    """The largest utilization of a device in the typical trial; null if unknown."""
    evidence: tuple[EvidenceReport, ...]
    """Evidence from the typical trial."""
    timeline: Timeline | None
    """Timeline of the typical trial."""
    no_timeline: str
    """Why there is no timeline; empty with one, or if none was requested."""


class Disturbance(StrEnum):
    """An external disturbance, not caused by the study's factors or workloads."""

    FOREIGN = "another process"
    STEAL = "the hypervisor"
    HEAT = "the heat of the CPU"


class DisturbanceReport(Value):
    """Trials that something outside the study has limited."""

    workload: str
    configuration: str
    disturbance: Disturbance
    trials: int
    """Number of counted trials with it."""
    sentence: str
    """The sentence on the first of them."""
