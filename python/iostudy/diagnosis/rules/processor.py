"""The CPU as the limit: all of it, or the one core that a thread can use (pure).

What other processes used of it is `foreign`'s to say, what the hypervisor took `steal`'s.
"""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.diagnosis.bottleneck import Bottleneck, Confidence, Evidence, Finding
from iostudy.diagnosis.context import DiagnosisContext
from iostudy.diagnosis.cores import in_words, is_confined, its_cores
from iostudy.diagnosis.demand import UNSERVED, Demand, cpu_busy, demand
from iostudy.diagnosis.rules.foreign import FOREIGN_CPU
from iostudy.diagnosis.thresholds import ConfidenceThresholds, at_most, number, told
from iostudy.telemetry.summary import TelemetrySummary

BUSY = ConfidenceThresholds(80, 90, 95)
"""Percent of the time in which all cores, or one of them, worked: as `device.BUSY`, for the same
reason."""


def find(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """The cores that it may use if they were busy, else the one of its busiest thread."""
    of_many = _its_cores if is_confined(seen) else _all_cores
    yield from tuple(of_many(seen, ground)) or _one_core(seen, ground)


def _all_cores(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    busy, asked = cpu_busy(seen), demand(seen, ground)
    confidence, held = BUSY.grade(busy), busy * _wanted(seen, asked)
    if confidence and held:
        says = f"all cores busy {number(busy)} % of the time"
        evidence = (Evidence("%cpu", "", busy, "%", says),)
        # Without what the workload's threads did it is not known whose doing that was.
        confidence = at_most(confidence, *([] if asked else [Confidence.MEDIUM]))
        yield Finding(Bottleneck.CPU, "", held, confidence, evidence)


def _its_cores(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """Those that it may use of many, by its own need of them: how busy others make them is unknown.

    Either it kept them busy, or it had more for them to do than they did.
    """
    cores, asked = its_cores(seen), demand(seen, ground)
    busy = min(100.0, seen.workload.get("%cpu", 0.0) / cores)
    held = busy * (asked.cpu if asked else 1.0)
    says = f"{in_words(seen)} busy {number(busy)} % of the time with it"
    evidence = [Evidence("%cpu", "", busy, "%", says)]
    confidence = BUSY.grade(busy)
    if asked and asked.running > cores and asked.unserved >= UNSERVED:
        says = f"{number(asked.running)} of its threads on one or ready for one"
        evidence.append(Evidence("running", "", asked.running, "threads", says))
        held = max(held, 100 * asked.unserved)
        confidence = confidence if confidence is Confidence.HIGH else Confidence.MEDIUM
    if confidence:
        yield Finding(Bottleneck.CPU, "", held, confidence, tuple(evidence))


def _wanted(seen: TelemetrySummary, asked: Demand | None) -> float:
    """The share of the workload's work (0 to 1) that all cores were too few for; 1 if not known.

    None of it, if others have the cores that it leaves, and its own threads are always served.
    """
    if asked is None:
        return 1.0
    has_all = 100 * asked.on_cpu >= BUSY.low * seen.machine.get("cores", 1.0)
    return asked.cpu if has_all or asked.unserved >= UNSERVED else 0.0


def _one_core(seen: TelemetrySummary, ground: DiagnosisContext) -> Iterator[Finding]:
    """By the workload's busiest thread; without it, by the busiest core, whosesoever that was.

    Others who used as much as one core may have been who kept it busy.

    A thread that spins keeps its core busy whatever it waits for.
    """
    if ground.spins:
        return
    if "%thread" in seen.workload:
        words = "the busiest thread on it {} % of the time"
        thread = told(seen.workload, "%thread", "", "%", words)
        known = Confidence.HIGH
    elif "%core" in seen.machine:
        thread = told(seen.machine, "%core", "", "%", "busy {} % of the time")
        others = seen.machine.get(FOREIGN_CPU, 0.0)
        known = Confidence.LOW if others >= BUSY.low else Confidence.MEDIUM
    else:
        return
    if confidence := BUSY.grade(thread.value):
        confidence = at_most(confidence, known)
        yield Finding(Bottleneck.CORE, "", thread.value, confidence, (thread,))
