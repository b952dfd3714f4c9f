"""JSON document of ``iostudy bench --json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from iostudy.diagnosis.bottleneck import Diagnosis
from iostudy.node.protocol import TrialResult
from iostudy.report.base import finite
from iostudy.report.documents.bench import (
    BenchReport,
    BlockRequestReport,
    FigureReading,
    LatencyDistribution,
    PartReadings,
    RequestLatencyDistribution,
    RequestSummary,
)
from iostudy.report.formatting import finite_values
from iostudy.report.topics.diagnosis import build_diagnosis
from iostudy.telemetry.block_requests import BlockRequests, Requests
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.measurement import Histogram
from iostudy.workloads.native.latency import percentiles_us
from iostudy.workloads.option_text import format_options


def build_document(
    definition: WorkloadDefinition, options: BaseModel, result: TrialResult, limited: Diagnosis
) -> BenchReport:
    """All that is known of the run."""
    summary = result.telemetry.summary
    part_figures = definition.part_figures(options)
    return BenchReport(
        workload=definition.name,
        options=format_options(options),
        figures=_readings(definition.figures(options), result.figures),
        latencies_us={name: _latencies(own) for name, own in result.latencies.items() if own},
        parts=tuple(
            PartReadings(labels=dict(part.labels), figures=_readings(part_figures, part.figures))
            for part in result.parts
        ),
        device=next(iter(result.devices), ""),
        devices={name: finite_values(own) for name, own in summary.devices.items()},
        machine=finite_values(summary.machine),
        block_requests=None if summary.requests is None else _block_requests(summary.requests),
        limited_by=build_diagnosis(limited),
        phases_seconds=finite_values(result.phases),
        notes=result.notes,
    )


def _readings(figures: Sequence[Figure], values: Mapping[str, float]) -> dict[str, FigureReading]:
    return {
        figure.name: FigureReading(value=finite(values[figure.name]), unit=figure.unit)
        for figure in figures
        if figure.name in values
    }


def _latencies(histogram: Histogram) -> LatencyDistribution:
    return LatencyDistribution(percentiles=percentiles_us(histogram), histogram=histogram)


def _block_requests(requests: BlockRequests) -> BlockRequestReport:
    return BlockRequestReport(
        devices={
            device: {operation: _requests(own) for operation, own in operations.items()}
            for device, operations in requests.devices.items()
        },
        events=requests.events,
        lost_events=requests.lost,
        unmatched_events=requests.unmatched,
        reader_cpu_seconds=requests.reader_cpu_seconds,
    )


def _requests(requests: Requests) -> RequestSummary:
    latency_us = RequestLatencyDistribution(
        mean=requests.mean_us,
        percentiles=percentiles_us(requests.latencies_us, requests.max_us),
        histogram=requests.latencies_us,
    )
    return RequestSummary(count=requests.count, latency_us=latency_us, size_bytes=requests.sizes)
