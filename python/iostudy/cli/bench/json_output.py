"""JSON document of ``iostudy bench --json``: one run of one workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, FiniteFloat

from iostudy.diagnosis.bottleneck import Diagnosis
from iostudy.node.protocol import TrialResult
from iostudy.report.base import DiagnosisReport, Value, declare_schema, finite
from iostudy.report.formatting import finite_values
from iostudy.telemetry.summary import BlockRequests, Requests
from iostudy.workloads.definition import Figure, WorkloadDefinition
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
        latencies_us={
            name: LatencyDistribution(percentiles=percentiles_us(histogram), histogram=histogram)
            for name, histogram in result.latencies.items()
            if histogram
        },
        parts=tuple(
            PartReadings(labels=dict(part.labels), figures=_readings(part_figures, part.figures))
            for part in result.parts
        ),
        device=next(iter(result.devices), ""),
        devices={name: finite_values(figures) for name, figures in summary.devices.items()},
        machine=finite_values(summary.machine),
        block_requests=None if summary.requests is None else _block_requests(summary.requests),
        limited_by=DiagnosisReport.copy_from(limited),
        phases_seconds=finite_values(result.phases),
        notes=result.notes,
    )


def _readings(figures: Sequence[Figure], values: Mapping[str, float]) -> dict[str, FigureReading]:
    return {
        figure.name: FigureReading(value=finite(values[figure.name]), unit=figure.unit)
        for figure in figures
        if figure.name in values
    }


def _block_requests(requests: BlockRequests) -> BlockRequestReport:
    return BlockRequestReport.copy_from(
        requests,
        devices={
            device: {operation: _requests(counted) for operation, counted in operations.items()}
            for device, operations in requests.devices.items()
        },
        lost_events=requests.lost,
        unmatched_events=requests.unmatched,
    )


def _requests(requests: Requests) -> RequestSummary:
    latency_us = RequestLatencyDistribution(
        mean=requests.mean_us,
        percentiles=percentiles_us(requests.latencies_us, requests.max_us),
        histogram=requests.latencies_us,
    )
    return RequestSummary(count=requests.count, latency_us=latency_us, size_bytes=requests.sizes)


class FigureReading(Value):
    """A figure of the workload."""

    value: FiniteFloat | None
    """Value of the figure; null if unknown."""
    unit: str
    """Its unit."""


class LatencyDistribution(Value):
    """The latencies of one operation, in microseconds."""

    percentiles: dict[str, FiniteFloat]
    """``p50`` to ``max``: upper bounds of their buckets, which are 4.4 % wide."""
    histogram: tuple[tuple[FiniteFloat, int], ...]
    """(upper bound, count) of each bucket that is not empty, ascending."""


class PartReadings(Value):
    """Figures of a part of the workload."""

    labels: dict[str, str]
    """What distinguishes the part: its job, or the cell of a matrix."""
    figures: dict[str, FigureReading]
    """Figures by name."""


class RequestLatencyDistribution(Value):
    """Latencies in microseconds, from the issue of requests to the driver to their completion."""

    mean: FiniteFloat
    """Mean latency in microseconds."""
    percentiles: dict[str, FiniteFloat]
    """``p50`` to ``max``: upper bounds of buckets 4.4 % wide, at most the maximum."""
    histogram: tuple[tuple[FiniteFloat, int], ...]
    """(upper bound, count) of each bucket that is not empty, ascending."""


class RequestSummary(Value):
    """Requests of one operation on one device."""

    count: int
    """Number of requests."""
    latency_us: RequestLatencyDistribution
    """Latencies from issue to the driver to completion."""
    size_bytes: tuple[tuple[int, int], ...]
    """(bytes, count) of each request size, ascending; a flush has size 0."""


class BlockRequestReport(Value):
    """Requests in the block layer."""

    devices: dict[str, dict[str, RequestSummary]]
    """Requests by device and operation: ``read``, ``write``, ``discard`` or ``flush``."""
    events: int
    """Events read from the kernel."""
    lost_events: int
    """Events overwritten before they were read; their requests are missing."""
    unmatched_events: int
    """Issues without a completion, or completions without an issue."""
    reader_cpu_seconds: FiniteFloat
    """CPU time of the tracing, in seconds."""


class BenchReport(Value):
    """One run of one workload."""

    schema_name: Literal["iostudy.bench/1"] = declare_schema("iostudy.bench/1")
    workload: str
    """Name of the workload."""
    options: dict[str, str]
    """All its options, as in a study file."""
    figures: dict[str, FigureReading]
    """Figures of the workload by name."""
    latencies_us: dict[str, LatencyDistribution]
    """Latencies by operation, for the operations that the workload measures."""
    parts: tuple[PartReadings, ...]
    """Figures of the workload's parts."""
    device: str
    """The first of ``devices`` below the target; empty without one."""
    devices: dict[str, dict[str, FiniteFloat | None]]
    """iostat's figures by device."""
    machine: dict[str, FiniteFloat | None]
    """Figures of the whole host."""
    block_requests: BlockRequestReport | None
    """Null without ``--block-latency``."""
    limited_by: DiagnosisReport
    """Bottleneck of the run."""
    phases_seconds: dict[str, FiniteFloat | None]
    """Seconds of each phase of the run, inside and outside the workload, in order of time."""
    notes: tuple[str, ...]
    """Remarks on the run."""
