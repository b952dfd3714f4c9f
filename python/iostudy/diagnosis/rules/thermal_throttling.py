"""A CPU that became too hot, and slowed itself (pure).

Source: the kernel's Documentation/ABI/testing/sysfs-devices-system-cpu, thermal_throttle: how often
the hardware throttled a core or package. For how long is not told:
at most as long as the CPU was busy.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Evidence, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.rules.processor import find as busy_processor
from iostudy.diagnosis.thresholds import ConfidenceThresholds, number, told
from iostudy.telemetry.summary import TelemetrySummary

EVENTS = ConfidenceThresholds(0.1, 1, 10)
"""Events a second: a single one in a run may have been over at once. A choice: for how long the
CPU was slowed is not told, so that only their number can speak."""


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """The heat, if the CPU was throttled while the workload wanted it."""
    rate = seen.machine.get("throttles", 0.0) / seen.seconds
    wanted = [finding.held or 0.0 for finding in busy_processor(seen, ground)]
    confidence = EVENTS.grade(rate)
    if confidence and wanted:
        says = f"the CPU throttled itself {number(rate)} times a second"
        evidence = [Evidence("throttles", "", rate, "1/s", says)]
        if "celsius_max" in seen.machine:
            evidence.append(told(seen.machine, "celsius_max", "", "degrees C", "at up to {} C"))
        explains = (Bottleneck.CPU, Bottleneck.CORE)
        yield Finding(Bottleneck.HEAT, "", max(wanted), confidence, tuple(evidence), explains)
