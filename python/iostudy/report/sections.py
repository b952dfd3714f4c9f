"""What was found over all workloads, or beside their verdicts, in the order in which it is told."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report import (
    covariates_section,
    curves_section,
    flags_section,
    limits_section,
    noise,
    ranking_section,
    requests_section,
    screening_section,
    search_section,
    tables,
)
from iostudy.report.section import Section
from iostudy.report.values.report import Report
from iostudy.report.values.results import WorkloadTold


def beside(report: Report) -> tuple[Section, ...]:
    """The sections that stand between the answer and the workloads; none of what was not asked."""
    found = (
        screening_section.section(report),
        *curves_section.sections(report),
        search_section.section(report),
        ranking_section.section(report),
        flags_section.section(report),
        covariates_section.section(report),
        noise.section(report),
    )
    return tuple(section for section in found if section is not None)


def of_workload(workload: WorkloadTold, report: Report) -> Iterator[Section]:
    """What stands below the verdicts on a workload."""
    yield from limits_section.sections(workload, report)
    yield from requests_section.sections(workload, report)
    yield from tables.sections(workload)
