"""``iostudy bench --json``: a run as the values of its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import BaseModel

from iostudy.diagnosis.bottleneck import Diagnosis
from iostudy.node.protocol import TrialResult
from iostudy.report.diagnosis import diagnosis_told
from iostudy.report.finite import finite, finite_values
from iostudy.report.values.bench import (
    BenchTold,
    BlockRequestsTold,
    LatenciesTold,
    MeasuredPartTold,
    ReadingTold,
    RequestLatenciesTold,
    RequestsTold,
)
from iostudy.telemetry.block_requests import BlockRequests, Requests
from iostudy.workloads.definition import Figure, Histogram, WorkloadDefinition
from iostudy.workloads.native.latency import percentiles_us
from iostudy.workloads.written import as_written


def document(
    definition: WorkloadDefinition, options: BaseModel, result: TrialResult, limited: Diagnosis
) -> BenchTold:
    """All that is known of the run."""
    seen = result.telemetry.seen
    part_figures = definition.part_figures(options)
    return BenchTold(
        workload=definition.name,
        options=as_written(options),
        figures=_readings(definition.figures(options), result.figures),
        latencies_us={name: _latencies(own) for name, own in result.latencies.items() if own},
        parts=tuple(
            MeasuredPartTold(
                labels=dict(part.labels), figures=_readings(part_figures, part.figures)
            )
            for part in result.parts
        ),
        device=next(iter(result.devices), ""),
        devices={name: finite_values(own) for name, own in seen.devices.items()},
        machine=finite_values(seen.machine),
        block_requests=None if seen.requests is None else _block_requests(seen.requests),
        limited_by=diagnosis_told(limited),
        phases_seconds=finite_values(result.phases),
        notes=result.notes,
    )


def _readings(figures: Sequence[Figure], values: Mapping[str, float]) -> dict[str, ReadingTold]:
    return {
        figure.name: ReadingTold(value=finite(values[figure.name]), unit=figure.unit)
        for figure in figures
        if figure.name in values
    }


def _latencies(histogram: Histogram) -> LatenciesTold:
    return LatenciesTold(percentiles=percentiles_us(histogram), histogram=histogram)


def _block_requests(told: BlockRequests) -> BlockRequestsTold:
    return BlockRequestsTold(
        devices={
            device: {operation: _requests(own) for operation, own in operations.items()}
            for device, operations in told.devices.items()
        },
        events=told.events,
        lost_events=told.lost,
        unmatched_events=told.unmatched,
        reader_cpu_seconds=told.reader_cpu_seconds,
    )


def _requests(own: Requests) -> RequestsTold:
    latency_us = RequestLatenciesTold(
        mean=own.mean_us,
        percentiles=percentiles_us(own.latencies_us, own.max_us),
        histogram=own.latencies_us,
    )
    return RequestsTold(count=own.count, latency_us=latency_us, size_bytes=own.sizes)
