"""CPU time that the hypervisor gave to others (pure).

Source: proc_stat(5), steal: time in which this machine's virtual CPUs wanted to run, and did not.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.thresholds import ConfidenceThresholds, told
from iostudy.telemetry.summary import TelemetrySummary

STOLEN = ConfidenceThresholds(5, 10, 20)
"""Percent of all CPU time. Even where CPUs are idle in between, each wait lengthens what runs. The
first is a usual limit of steal (docs/method.md), each next one is twice as much."""


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """The hypervisor, if it took a part of the CPU time."""
    del ground
    if confidence := STOLEN.grade(seen.machine.get("%steal", 0.0)):
        evidence = (told(seen.machine, "%steal", "", "%", "it took {} % of all CPU time"),)
        yield Finding(Bottleneck.STEAL, "", seen.machine["%steal"], confidence, evidence)
