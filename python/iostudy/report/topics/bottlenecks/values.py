"""Bottlenecks of configurations, timelines and disturbances."""

from __future__ import annotations

from enum import StrEnum

from pydantic import FiniteFloat

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.confidence import Confidence
from iostudy.report.base import Value
from iostudy.report.topics.bottlenecks.diagnosis_values import EvidenceReport


class TimelineSeries(Value):
    """How busy one part was over a trial."""

    name: str
    of: str
    """The device that it is of; empty: the machine."""
    values: tuple[FiniteFloat | None, ...]
    """In percent, one for each of the timeline's ``seconds``; null where it is not known."""


class Timeline(Value):
    """How busy the parts were over a trial: at most 60 values of each."""

    seconds: tuple[FiniteFloat, ...]
    """From the start of the recording to the end of what each value is of."""
    series: tuple[TimelineSeries, ...]


class BottleneckReport(Value):
    """Bottleneck of one configuration on one workload, over its counted trials."""

    workload: str
    configuration: str
    trials: int
    limits: dict[Bottleneck, int]
    """In how many trials each limit was told, the most frequent first."""
    limit: Bottleneck
    """The one of the typical trial."""
    of: str
    """The device, interface, mount or process that it is about; empty: the machine."""
    confidence: Confidence | None
    """Low where less than three trials in four share the limit, else that of the typical trial.
    None where the limit is unclear."""
    typical_confidence: Confidence | None
    """Of the typical trial alone, as its ``sentence`` tells it."""
    typical: int
    """The number of the trial, of those with the most frequent limit, whose figure is nearest the
    median of the configuration."""
    sentence: str
    """What is said of the typical trial."""
    no_help: str
    """What a faster device could save of its time at most, where three trials in four have a limit
    that is elsewhere; else empty."""
    busy: EvidenceReport | None
    """For how much of the time the devices were at work in the typical trial, at most; null where
    that is not known."""
    evidence: tuple[EvidenceReport, ...]
    """Of the typical trial."""
    timeline: Timeline | None
    """Of the typical trial."""
    no_timeline: str
    """Why there is none; empty if there is, or if none was asked for."""


class Disturbance(StrEnum):
    """What comes from outside a study: nothing that it varies, and none of its workloads."""

    FOREIGN = "another process"
    STEAL = "the hypervisor"
    HEAT = "the heat of the CPU"


class DisturbanceReport(Value):
    """Trials that something outside the study has limited."""

    workload: str
    configuration: str
    disturbance: Disturbance
    trials: int
    """In how many trials that count."""
    sentence: str
    """What is said of the first of them."""
