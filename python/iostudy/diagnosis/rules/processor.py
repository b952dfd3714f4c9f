"""Rules for the CPU: busy cores, quota, steal and thermal throttling (pure).

The rules `foreign` and `steal` cover CPU time of other processes and of the hypervisor.

Source: the kernel's Documentation/scheduler/sched-bwc.rst: a group that has used its quota is
throttled until the next period, even if CPUs are idle.

Source: proc_stat(5), steal: the time in which virtual CPUs were runnable and did not run.

Source: the kernel's Documentation/ABI/testing/sysfs-devices-system-cpu, thermal_throttle: how often
the hardware throttled a core or package. The duration is unknown: at most as long as the CPU was
busy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Finding
from iostudy.diagnosis.context import (
    DiagnosisContext,
    count_allowed_cores,
    format_allowed_cores,
    has_restricted_affinity,
)
from iostudy.diagnosis.demand import Demand, compute_cpu_utilization, compute_demand
from iostudy.diagnosis.evidence import (
    CPU_STARVED,
    ELASTICITY,
    UTILIZATION,
    Confidence,
    ConfidenceThresholds,
    Evidence,
    format_number,
)
from iostudy.diagnosis.rules.foreign import FOREIGN_CPU
from iostudy.telemetry.summary import TelemetrySummary


def find_busy_processors(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find busy cores: all allowed ones, else the core of the busiest thread."""
    find_many = _find_busy_allowed_cores if has_restricted_affinity(summary) else _find_busy_cores
    yield from tuple(find_many(summary, context)) or _find_busy_core(summary, context)


def _find_busy_cores(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    busy, demand = compute_cpu_utilization(summary), compute_demand(summary, context)
    confidence, held = UTILIZATION.grade(busy), busy * _grade_cpu_need(summary, demand)
    if confidence and held:
        says = f"all cores busy {format_number(busy)} % of the time"
        evidence = (Evidence("%cpu", "", busy, "%", says),)
        # Without the states of the workload's threads it is unknown who used the CPU.
        grade = ELASTICITY.grade(_own_share(summary, demand)) if demand else Confidence.MEDIUM
        if grade:
            sure = Confidence.lowest(confidence, grade)
            yield Finding(Bottleneck.CPU, "", held, sure, evidence)


def _find_busy_allowed_cores(
    summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    """Find busy allowed cores by the workload's own use; the use by others is unknown.

    Either the workload kept them busy, or more of its threads were runnable than cores allowed.
    """
    cores, demand = count_allowed_cores(summary), compute_demand(summary, context)
    busy = min(100.0, summary.workload.get("%cpu", 0.0) / cores)
    held = busy * (demand.cpu_share if demand else 1.0)
    says = f"{format_allowed_cores(summary)} busy {format_number(busy)} % of the time"
    says += " with the workload"
    evidence = [Evidence("%cpu", "", busy, "%", says)]
    confidence = UTILIZATION.grade(busy)
    if demand and demand.running > cores and demand.starved_share >= CPU_STARVED:
        says = f"{format_number(demand.running)} of its threads running or ready to run"
        evidence.append(Evidence("running", "", demand.running, "threads", says))
        held = max(held, 100 * demand.starved_share)
        confidence = confidence if confidence is Confidence.HIGH else Confidence.MEDIUM
    if confidence:
        yield Finding(Bottleneck.CPU, "", held, confidence, tuple(evidence))


def _own_share(summary: TelemetrySummary, demand: Demand) -> float:
    """Return the percentage of the operations that needed a CPU and waited for none of others'."""
    others = summary.machine.get(FOREIGN_CPU, 0.0) / 100
    return 100 * demand.cpu_share * demand.on_cpu / max(demand.on_cpu + others, 1e-9)


def _grade_cpu_need(summary: TelemetrySummary, demand: Demand | None) -> float:
    """Return the share of the workload's operations (0 to 1) that needed more cores; 1 if unknown.

    It is 0 if others use the remaining cores and the workload's threads never wait for one.
    """
    if demand is None:
        return 1.0
    has_all = 100 * demand.on_cpu >= UTILIZATION.low * summary.machine.get("cores", 1.0)
    return demand.cpu_share if has_all or demand.starved_share >= CPU_STARVED else 0.0


def _find_busy_core(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find a busy core by the workload's busiest thread, or without it by the busiest core.

    Other processes may have kept that core busy if they used as much as one core, and did if the
    whole workload used less. A thread that spins keeps its core busy while it waits, so that the
    rule does not apply.
    """
    if context.spins or summary.workload.get("%cpu", math.inf) < UTILIZATION.low:
        return
    if "%thread" in summary.workload:
        words = "the busiest thread ran {} % of the time"
        thread = Evidence.read(summary.workload, "%thread", "", "%", words)
        known = Confidence.HIGH
    elif "%core" in summary.machine:
        thread = Evidence.read(summary.machine, "%core", "", "%", "busy {} % of the time")
        others = summary.machine.get(FOREIGN_CPU, 0.0)
        known = Confidence.LOW if others >= UTILIZATION.low else Confidence.MEDIUM
    else:
        return
    if confidence := UTILIZATION.grade(thread.value):
        confidence = Confidence.lowest(confidence, known)
        yield Finding(Bottleneck.CORE, "", thread.value, confidence, (thread,))


THROTTLED = ConfidenceThresholds(5, 10, 25)
"""Percent of the time. A group that never reaches its quota is never throttled. The lowest value is
`evidence.MINIMUM_HELD`; the others are a choice."""


def find_cpu_quota(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find the quota if it throttled the workload's group."""
    if confidence := THROTTLED.grade(summary.machine.get("%quota", 0.0)):
        words = "the workload throttled {} % of the time"
        evidence = (Evidence.read(summary.machine, "%quota", "", "%", words),)
        yield Finding(Bottleneck.QUOTA, "", summary.machine["%quota"], confidence, evidence)


def find_steal(summary: TelemetrySummary, context: DiagnosisContext) -> Iterator[Finding]:
    """Find the hypervisor if less stolen CPU time would have made the run faster.

    One percent less of the stolen part s gives s / (1 - s) percent more CPU time, which matters to
    the share of the operations that need it.
    """
    stolen, demand = summary.machine.get("%steal", 0.0), compute_demand(summary, context)
    used, cpu_share = compute_cpu_utilization(summary), demand.cpu_share if demand else 1.0
    gain = 100 * stolen / used * cpu_share if used else 0.0
    if confidence := ELASTICITY.grade(gain):
        # Whether the device would then be the limit is unknown.
        confidence = Confidence.lowest(confidence, Confidence.MEDIUM)
        evidence = (
            Evidence.read(summary.machine, "%steal", "", "%", "it took {} % of all CPU time"),
        )
        yield Finding(Bottleneck.STEAL, "", summary.machine["%steal"], confidence, evidence)


EVENTS = ConfidenceThresholds(0.1, 1, 10)
"""Events a second: a single one may have been very short. A choice: the duration is unknown, so
that only the number of events counts."""


def find_thermal_throttling(
    summary: TelemetrySummary, context: DiagnosisContext
) -> Iterator[Finding]:
    """Find thermal throttling if the workload needed the CPU."""
    rate = summary.machine.get("throttles", 0.0) / summary.seconds
    busy = max(
        find_busy_processors(summary, context),
        key=lambda finding: finding.held or 0.0,
        default=None,
    )
    confidence = EVENTS.grade(rate)
    if confidence and busy:
        says = f"{format_number(rate)} throttling events a second"
        evidence = [Evidence("throttles", "", rate, "1/s", says)]
        if "celsius_max" in summary.machine:
            evidence.append(
                Evidence.read(summary.machine, "celsius_max", "", "degrees C", "at up to {} C")
            )
        explains = (Bottleneck.CPU, Bottleneck.CORE)
        sure = Confidence.lowest(confidence, busy.confidence)
        yield Finding(Bottleneck.HEAT, "", busy.held, sure, tuple(evidence), explains)
