"""Latencies of block requests, if the study traced them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import FiniteFloat

from iostudy.ledger.rows import TrialRow
from iostudy.report.base import Value
from iostudy.report.formatting import format_figure
from iostudy.report.section import Section, TextTable
from iostudy.report.topics.telemetry import (
    find_tested_device,
    group_counted_trials,
    rename_tested_device,
)
from iostudy.study.model import Study
from iostudy.telemetry.block_requests import BlockRequests, Operation, Requests
from iostudy.units import format_percent
from iostudy.workloads.native.latency import percentiles_us, pool_histograms

if TYPE_CHECKING:
    from iostudy.report.values import Report, WorkloadReport


class PooledRequests(Value):
    """Requests of one operation on one device, pooled over the counted trials."""

    device: str
    """Name of the device. The tested device has the report's ``device`` in all trials."""
    operation: str
    """``read``, ``write``, ``discard`` or ``flush``."""
    trials: int
    """Number of trials with such requests."""
    count: int
    """Number of requests in these trials."""
    mean_us: FiniteFloat
    """Mean latency from issue to the driver to completion, in microseconds."""
    percentiles_us: dict[str, FiniteFloat]
    """``p50`` to ``max`` in microseconds: upper bounds of buckets 4.4 % wide, at most the
    maximum."""
    upper_us: tuple[FiniteFloat, ...]
    """Upper bounds of the buckets that are not empty, ascending, in microseconds."""
    counts: tuple[int, ...]
    """Requests in each of these buckets."""


class BlockLatencyReport(Value):
    """Requests to the disks under one configuration on one workload."""

    workload: str
    """Label of the workload."""
    configuration: str
    """Label of the configuration."""
    trials: int
    """Number of counted trials that were traced."""
    events: int
    """Events read from the kernel in these trials."""
    lost_events: int
    """Events overwritten before they were read; their requests are missing."""
    unmatched_events: int
    """Issues without a completion, or completions without an issue."""
    requests: tuple[PooledRequests, ...]
    """Requests by device, the target's first, and by operation."""


ByOperation = Mapping[Operation, Requests]


def build_block_latency(study: Study, rows: Sequence[TrialRow]) -> tuple[BlockLatencyReport, ...]:
    """One for each workload and configuration with a traced trial that counts."""
    tested = find_tested_device(rows)
    return tuple(
        _traced(*pair, traced, tested)
        for pair, own in group_counted_trials(study, rows).items()
        if (
            traced := [
                (row, row.summary.requests) for row in own if row.summary and row.summary.requests
            ]
        )
    )


def _traced(
    workload: str,
    configuration: str,
    traced: Sequence[tuple[TrialRow, BlockRequests]],
    tested: str,
) -> BlockLatencyReport:
    summaries = [requests for _, requests in traced]
    by_device = [
        rename_tested_device(requests.devices, row.device, tested) for row, requests in traced
    ]
    return BlockLatencyReport(
        workload=workload,
        configuration=configuration,
        trials=len(traced),
        events=sum(own.events for own in summaries),
        lost_events=sum(own.lost for own in summaries),
        unmatched_events=sum(own.unmatched for own in summaries),
        requests=tuple(_requests(by_device)),
    )


def _requests(trials: Sequence[Mapping[str, ByOperation]]) -> Iterator[PooledRequests]:
    """Return the requests of each device by operation."""
    for device in dict.fromkeys(name for own in trials for name in own):
        here = [own[device] for own in trials if device in own]
        for operation in dict.fromkeys(name for own in here for name in own):
            yield _pooled(device, operation, [own[operation] for own in here if operation in own])


def _pooled(device: str, operation: Operation, each: Sequence[Requests]) -> PooledRequests:
    """The requests of several trials as those of one: histograms add, means by their counts."""
    histogram, count = (
        pool_histograms(own.latencies_us for own in each),
        sum(own.count for own in each),
    )
    upper_us, counts = zip(*histogram, strict=True)
    return PooledRequests(
        device=device,
        operation=operation,
        trials=len(each),
        count=count,
        mean_us=math.fsum(own.count * own.mean_us for own in each) / count,
        percentiles_us=percentiles_us(histogram, max(own.max_us for own in each)),
        upper_us=upper_us,
        counts=counts,
    )


REQUESTS = "requests"
"""The name of the section."""
_KNOWN = (
    "Microseconds from the issue of a request to the driver to its completion (kernel "
    "tracepoints), without the time in the I/O scheduler, which r_await and w_await include. All "
    "requests of the counted trials, of any process; percentiles to 4.4 %; not used for verdicts. "
    "Tracing adds a small cost to every request: compare these trials with traced trials only."
)
_NONE = "No request was traced on the devices of the target."


def build_block_latency_sections(workload: WorkloadReport, report: Report) -> Iterator[Section]:
    """A row for each device, operation and configuration; nothing where nothing was traced."""
    traced = [own for own in report.block_requests if own.workload == workload.label]
    if not traced:
        return
    rows = list(_rows(traced, report.device))
    yield Section(
        name=REQUESTS,
        title="Block request latency",
        notes=(_KNOWN, *_lost(traced), *(() if rows else (_NONE,))),
        tables=(_table(rows, report),) if rows else (),
    )


def _rows(
    traced: Sequence[BlockLatencyReport], device: str
) -> Iterator[tuple[str, PooledRequests]]:
    """Configurations next to each other, by device and operation; the device under test first."""
    every = [(own.configuration, latency) for own in traced for latency in own.requests]
    kinds = dict.fromkeys((latency.device, latency.operation) for _, latency in every)
    for kind in sorted(kinds, key=lambda kind: kind[0] != device):
        yield from (pair for pair in every if (pair[1].device, pair[1].operation) == kind)


def _table(rows: Sequence[tuple[str, PooledRequests]], report: Report) -> TextTable:
    percentiles = rows[0][1].percentiles_us
    return TextTable(
        title="",
        heads=("device", "operation", report.noun, "mean", *percentiles, "count"),
        rows=[_row(configuration, requests) for configuration, requests in rows],
        names=3,
    )


def _row(configuration: str, pooled: PooledRequests) -> tuple[str, ...]:
    figures = map(format_figure, (pooled.mean_us, *pooled.percentiles_us.values()))
    return (pooled.device, pooled.operation, configuration, *figures, str(pooled.count))


def _lost(traced: Sequence[BlockLatencyReport]) -> Iterator[str]:
    """Limits of the figures."""
    for own in traced:
        if own.lost_events:
            share = format_percent(own.lost_events / (own.events + own.lost_events))
            yield (
                f"{own.configuration}: {own.lost_events} events ({share}) were lost in a full "
                "buffer: their requests are missing."
            )
