"""Diagnoses of runs."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from iostudy.diagnosis.bottleneck import Bottleneck, Diagnosis, Finding
from iostudy.diagnosis.evidence import Evidence
from iostudy.report.base import Value


class DiagnosisReport(Value):
    """The bottleneck of one run, and the examined figures."""

    limit: Bottleneck
    """The bottleneck of the first finding; unclear without findings."""
    sentence: str
    """The diagnosis in a sentence."""
    no_help: str
    """The most that a faster device could save, if the bottleneck is elsewhere; else empty."""
    findings: tuple[Finding, ...]
    """Bottlenecks of the run, the main one first."""
    key_figures: tuple[Evidence, ...] = Field(serialization_alias="looked_at")
    """Key figures of every run, whatever its bottleneck; the target's device first."""
    missing: tuple[str, ...]
    """Figures that were not available."""


Diagnoses = Mapping[int, Diagnosis]
"""Diagnoses of trials by their ids."""
