"""What limited a run, as values of a document (pure)."""

from __future__ import annotations

from iostudy.diagnosis.bottleneck import Diagnosis, Evidence, Finding
from iostudy.report.finite import finite
from iostudy.report.values.diagnosis import DiagnosisTold, EvidenceTold, FindingTold


def diagnosis_told(diagnosis: Diagnosis) -> DiagnosisTold:
    """All findings about a run."""
    return DiagnosisTold(
        limit=diagnosis.limit,
        sentence=diagnosis.sentence,
        no_help=diagnosis.no_help,
        findings=tuple(map(_finding, diagnosis.findings)),
        looked_at=tuple(map(evidence_told, diagnosis.looked_at)),
        missing=diagnosis.missing,
    )


def evidence_told(evidence: Evidence) -> EvidenceTold:
    """One figure that was looked at."""
    return EvidenceTold(
        figure=evidence.figure,
        of=evidence.of,
        value=finite(evidence.value),
        unit=evidence.unit,
        says=evidence.says,
    )


def _finding(finding: Finding) -> FindingTold:
    return FindingTold(
        limit=finding.limit,
        of=finding.of,
        held=finite(finding.held),
        confidence=finding.confidence,
        evidence=tuple(map(evidence_told, finding.evidence)),
        explains=finding.explains,
    )
