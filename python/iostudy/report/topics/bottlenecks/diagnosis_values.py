"""Diagnosis of one run: findings and evidence."""

from __future__ import annotations

from pydantic import FiniteFloat

from iostudy.diagnosis.bottleneck import Bottleneck
from iostudy.diagnosis.confidence import Confidence
from iostudy.report.base import Value


class EvidenceReport(Value):
    """A figure that a diagnosis rests on."""

    figure: str
    """Name of the figure."""
    of: str
    """Device, interface, mount or process of the figure; empty for the whole host."""
    value: FiniteFloat | None
    """Value of the figure; null if unknown."""
    unit: str
    """Unit of the value."""
    says: str
    """The figure in words, with its unit."""


class FindingReport(Value):
    """One bottleneck of a run."""

    limit: Bottleneck
    """The bottleneck."""
    of: str
    """Device, interface, mount or process of the bottleneck; empty for the whole host."""
    held: FiniteFloat | None
    """Share of the time in which it limited the run, in percent; null if unknown."""
    confidence: Confidence
    """Confidence of the finding; that of a further finding is not calibrated."""
    evidence: tuple[EvidenceReport, ...]
    """Figures that show it."""
    explains: tuple[Bottleneck, ...]
    """Other bottlenecks that are its consequences."""


class DiagnosisReport(Value):
    """The bottleneck of one run, and the examined figures."""

    limit: Bottleneck
    """The bottleneck of the first finding; unclear without findings."""
    sentence: str
    """The diagnosis in a sentence."""
    no_help: str
    """The most that a faster device could save, if the bottleneck is elsewhere; else empty."""
    findings: tuple[FindingReport, ...]
    """Bottlenecks of the run, the main one first."""
    looked_at: tuple[EvidenceReport, ...]
    """Key figures of every run, whatever its bottleneck; the target's device first."""
    missing: tuple[str, ...]
    """Figures that were not available."""
