"""Conversion of a diagnosis to document values (pure)."""

from __future__ import annotations

from iostudy.diagnosis.bottleneck import Diagnosis, Finding
from iostudy.diagnosis.evidence import Evidence
from iostudy.report.finite import finite
from iostudy.report.topics.bottlenecks.diagnosis_values import (
    DiagnosisReport,
    EvidenceReport,
    FindingReport,
)


def build_diagnosis(diagnosis: Diagnosis) -> DiagnosisReport:
    """All findings about a run."""
    return DiagnosisReport(
        limit=diagnosis.limit,
        sentence=diagnosis.sentence,
        no_help=diagnosis.no_help,
        findings=tuple(map(_finding, diagnosis.findings)),
        looked_at=tuple(map(build_evidence, diagnosis.key_figures)),
        missing=diagnosis.missing,
    )


def build_evidence(evidence: Evidence) -> EvidenceReport:
    """One figure that was looked at."""
    return EvidenceReport(
        figure=evidence.figure,
        of=evidence.of,
        value=finite(evidence.value),
        unit=evidence.unit,
        says=evidence.says,
    )


def _finding(finding: Finding) -> FindingReport:
    return FindingReport(
        limit=finding.limit,
        of=finding.of,
        held=finite(finding.held),
        confidence=finding.confidence,
        evidence=tuple(map(build_evidence, finding.evidence)),
        explains=finding.explains,
    )
