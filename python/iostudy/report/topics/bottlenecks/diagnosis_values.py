"""Diagnosis of one run: findings and evidence."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.confidence import Confidence
from iostudy.report.base import Value


class EvidenceReport(Value):
    """A figure that a diagnosis rests on."""

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
    """Share of the time for which it limited the work, in percent; null if unknown."""
    confidence: Confidence
    evidence: tuple[EvidenceReport, ...]
    explains: tuple[Bottleneck, ...]
    """Limits that are its consequences."""


class DiagnosisReport(Value):
    """The bottleneck of one run, and the examined figures."""

    limit: Bottleneck
    """The bottleneck of the first finding; unclear without findings."""
    sentence: str
    no_help: str
    """The most that a faster device could save if the limit is elsewhere; otherwise empty."""
    findings: tuple[FindingReport, ...]
    """The foremost first."""
    looked_at: tuple[EvidenceReport, ...]
    """The key figures, independent of the result; the target's device first."""
    missing: tuple[str, ...]
    """Figures that were not available."""
