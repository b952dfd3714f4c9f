"""A control group's CPU quota (pure).

Source: the kernel's Documentation/scheduler/sched-bwc.rst: a group that has used its quota stands
still until the next period, whatever else is idle.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.thresholds import ConfidenceThresholds, told
from iostudy.telemetry.summary import TelemetrySummary

HELD_BACK = ConfidenceThresholds(5, 10, 25)
"""Percent of the time. A group that never reaches its quota is never held back. What held a run up
for 5 % of the time is the least that is told at all (`diagnose.LITTLE`); from there a choice."""


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """The quota, if it held the workload's group back."""
    del ground
    if confidence := HELD_BACK.grade(seen.machine.get("%quota", 0.0)):
        words = "the workload held back {} % of the time"
        evidence = (told(seen.machine, "%quota", "", "%", words),)
        yield Finding(Bottleneck.QUOTA, "", seen.machine["%quota"], confidence, evidence)
