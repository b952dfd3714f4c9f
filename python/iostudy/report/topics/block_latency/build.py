"""Block requests by configuration, pooled over the counted trials (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from iostudy.ledger.rows import TrialRow
from iostudy.report.topics.block_latency.values import BlockLatencyReport, PooledRequests
from iostudy.report.topics.bottlenecks.telemetry import (
    find_tested_device,
    group_counted_trials,
    rename_tested_device,
)
from iostudy.study.model import Study
from iostudy.telemetry.block_requests import BlockRequests, Operation, Requests
from iostudy.workloads.native.latency import percentiles_us, pool_histograms

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
