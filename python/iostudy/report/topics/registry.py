"""Registry of report sections, in the order of the report."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report.section import Section
from iostudy.report.topics.block_latency import build_block_latency_sections
from iostudy.report.topics.bottlenecks import build_bottleneck_sections
from iostudy.report.topics.caveats import build_caveats_section
from iostudy.report.topics.configurations import build_configurations_section
from iostudy.report.topics.covariates import build_covariates_section
from iostudy.report.topics.directories import build_directories_section
from iostudy.report.topics.measurements import build_measurement_sections
from iostudy.report.topics.noise import build_noise_section
from iostudy.report.topics.ranking import build_ranking_section
from iostudy.report.topics.reference import build_reference_section
from iostudy.report.topics.scaling import build_scaling_sections
from iostudy.report.topics.switchback import build_switchback_section
from iostudy.report.topics.telemetry import build_utilization_sections
from iostudy.report.topics.volumes import build_volume_section
from iostudy.report.values import Report, WorkloadReport


def build_summary_sections(report: Report) -> tuple[Section, ...]:
    """Return the sections between the answer and the workloads that the study has."""
    risk, several = report.method.risk, len(report.workloads) > 1
    leading, others = (
        [
            topic.build_section(factor=report.factor, risk=risk, several=several)
            for topic in report.topics
            if topic.leads is leads
        ]
        for leads in (True, False)
    )
    sections = (
        *leading,
        *build_scaling_sections(report),
        build_ranking_section(report),
        build_caveats_section(report),
        build_volume_section(report.volume, report.noun),
        build_directories_section(report.directories),
        *others,
        build_covariates_section(report),
        build_switchback_section(report.switchback, report.noun, report.factor),
        build_noise_section(report),
    )
    return tuple(section for section in sections if section is not None)


def build_closing_sections(report: Report) -> tuple[Section, ...]:
    """Return the sections after the workloads that the study has."""
    sections = (
        build_reference_section(report.reference),
        build_configurations_section(report.configurations, report.noun),
    )
    return tuple(section for section in sections if section is not None)


def build_workload_sections(workload: WorkloadReport, report: Report) -> Iterator[Section]:
    """Return the sections below the verdicts on a workload."""
    yield from build_bottleneck_sections(workload, report)
    yield from build_utilization_sections(workload, report)
    yield from build_block_latency_sections(workload, report)
    yield from build_measurement_sections(workload, report)
