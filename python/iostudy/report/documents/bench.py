"""Document of ``iostudy bench --json``: one run of one workload."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, FiniteFloat

from iostudy.report.base import Value
from iostudy.report.topics.bottlenecks.diagnosis_values import DiagnosisReport


class FigureReading(Value):
    """A figure of the workload."""

    value: FiniteFloat | None
    unit: str


class LatencyDistribution(Value):
    """The latencies of one operation, in microseconds."""

    percentiles: dict[str, FiniteFloat]
    """``p50`` to ``max``: upper bounds of their buckets, which are 4.4 % wide."""
    histogram: tuple[tuple[FiniteFloat, int], ...]
    """(upper bound, count) of each bucket that is not empty, ascending."""


class PartReadings(Value):
    """One of several jobs, or a cell of a matrix."""

    labels: dict[str, str]
    figures: dict[str, FigureReading]


class RequestLatencyDistribution(Value):
    """Latencies in microseconds, from the issue of requests to the driver to their completion."""

    mean: FiniteFloat
    percentiles: dict[str, FiniteFloat]
    """``p50`` to ``max``: upper bounds of their buckets, but none beyond the longest latency."""
    histogram: tuple[tuple[FiniteFloat, int], ...]
    """(upper bound, count) of each bucket that is not empty, ascending."""


class RequestSummary(Value):
    """The requests of one device that do the same."""

    count: int
    latency_us: RequestLatencyDistribution
    size_bytes: tuple[tuple[int, int], ...]
    """(bytes, count), ascending; a flush has size 0."""


class BlockRequestReport(Value):
    """Requests in the block layer."""

    devices: dict[str, dict[str, RequestSummary]]
    """Requests by device and operation: ``read``, ``write``, ``discard`` or ``flush``."""
    events: int
    """Events read from the kernel."""
    lost_events: int
    """Events overwritten before they were read: their requests are missing."""
    unmatched_events: int
    """Starts or ends of requests without a counterpart."""
    reader_cpu_seconds: FiniteFloat


class BenchReport(Value):
    """The document."""

    schema_name: Literal["iostudy.bench/1"] = Field(
        default="iostudy.bench/1", serialization_alias="schema"
    )
    """The form of this document; the number grows when a reader of the old form would fail."""
    workload: str
    options: dict[str, str]
    """All of them, as a study file has them."""
    figures: dict[str, FigureReading]
    latencies_us: dict[str, LatencyDistribution]
    """Latencies by operation, for the operations that the workload measures."""
    parts: tuple[PartReadings, ...]
    device: str
    """The first of ``devices`` that the target lies on; empty if there is none."""
    devices: dict[str, dict[str, FiniteFloat | None]]
    """iostat's figures by device."""
    machine: dict[str, FiniteFloat | None]
    block_requests: BlockRequestReport | None
    """Null without ``--block-latency``."""
    limited_by: DiagnosisReport
    phases_seconds: dict[str, FiniteFloat | None]
    """Spent outside and inside the workload, in the order in which it happened."""
    notes: tuple[str, ...]
