"""Rule for thermal throttling of the CPU (pure).

Source: the kernel's Documentation/ABI/testing/sysfs-devices-system-cpu, thermal_throttle: how often
the hardware throttled a core or package. The duration is unknown: at most as long as the CPU was
busy.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.confidence import ConfidenceThresholds, lowest_confidence
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.evidence import Evidence, build_evidence, format_number
from iostudy.diagnosis.rules.processor import find_busy_processors as busy_processor
from iostudy.telemetry.summary import TelemetrySummary

EVENTS = ConfidenceThresholds(0.1, 1, 10)
"""Events a second: a single one may have been very short. A choice: the duration is unknown, so
that only the number of events counts."""


def find_thermal_throttling(
    summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    """Find thermal throttling if the workload needed the CPU."""
    rate = summary.machine.get("throttles", 0.0) / summary.seconds
    busy = max(busy_processor(summary, context), key=lambda each: each.held or 0.0, default=None)
    confidence = EVENTS.grade(rate)
    if confidence and busy:
        says = f"{format_number(rate)} throttling events a second"
        evidence = [Evidence("throttles", "", rate, "1/s", says)]
        if "celsius_max" in summary.machine:
            evidence.append(
                build_evidence(summary.machine, "celsius_max", "", "degrees C", "at up to {} C")
            )
        explains = (Bottleneck.CPU, Bottleneck.CORE)
        sure = lowest_confidence(confidence, busy.confidence)
        yield Finding(Bottleneck.HEAT, "", busy.held, sure, tuple(evidence), explains)
