"""Diagnosis of one run: findings and evidence."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.confidence import Confidence
from iostudy.report.base import Value


class EvidenceReport(Value):
    """A figure that a limit was told by."""

    figure: str
    of: str
    """The device, interface, mount or process that it is of; empty: the machine."""
    value: FiniteFloat | None
    unit: str
    says: str


class FindingReport(Value):
    """One limit."""

    limit: Bottleneck
    of: str
    """The device, interface, mount or process that it is about; empty: the machine."""
    held: FiniteFloat | None
    """For how much of the time it held the work up, in percent; null where that is not known."""
    confidence: Confidence
    evidence: tuple[EvidenceReport, ...]
    explains: tuple[Bottleneck, ...]
    """Limits that are its consequences."""


class DiagnosisReport(Value):
    """What limited one run, and what was looked at."""

    limit: Bottleneck
    """That of the first finding; unclear where there is none."""
    sentence: str
    no_help: str
    """What a faster device could save at most, where the limit is elsewhere; else empty."""
    findings: tuple[FindingReport, ...]
    """The foremost first."""
    looked_at: tuple[EvidenceReport, ...]
    """The main figures, whatever was found: the target's device first if it has one."""
    missing: tuple[str, ...]
    """What could not be looked at."""
