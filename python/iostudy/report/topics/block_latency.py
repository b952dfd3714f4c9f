"""Latencies of block requests, if the study traced them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import FiniteFloat

from iostudy.ledger.rows import TrialRow
from iostudy.report.base import OfConfiguration, PooledLatencies
from iostudy.report.formatting import format_figure
from iostudy.report.section import Section, make_table
from iostudy.report.topics.telemetry import (
    find_tested_device,
    group_counted_trials,
    rename_tested_device,
)
from iostudy.study.model import Study
from iostudy.telemetry.summary import Operation, Requests
from iostudy.units import format_percent

if TYPE_CHECKING:
    from iostudy.report.values import Report, WorkloadReport


class PooledRequests(PooledLatencies):
    """Requests of one operation on one device, from issue to the driver to completion.

    ``operation`` is ``read``, ``write``, ``discard`` or ``flush``.
    """

    device: str
    """Name of the device. The tested device has the report's ``device`` in all trials."""
    mean_us: FiniteFloat
    """Mean latency from issue to the driver to completion, in microseconds."""


class BlockLatencyReport(OfConfiguration):
    """Requests to the disks under one configuration on one workload."""

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


def build_block_latency(study: Study, rows: Sequence[TrialRow]) -> Iterator[BlockLatencyReport]:
    """Yield one for each workload and configuration with a traced trial that counts."""
    tested = find_tested_device(rows)
    for (workload, configuration), trials in group_counted_trials(study, rows).items():
        traced = [
            (row.device, row.summary.requests)
            for row in trials
            if row.summary and row.summary.requests
        ]
        by_device = [
            rename_tested_device(requests.devices, device, tested) for device, requests in traced
        ]
        if traced:
            yield BlockLatencyReport(
                workload=workload,
                configuration=configuration,
                trials=len(traced),
                events=sum(requests.events for _, requests in traced),
                lost_events=sum(requests.lost for _, requests in traced),
                unmatched_events=sum(requests.unmatched for _, requests in traced),
                requests=tuple(_pool_requests(by_device)),
            )


def _pool_requests(
    traced: Sequence[Mapping[str, Mapping[Operation, Requests]]],
) -> Iterator[PooledRequests]:
    """Yield the requests of all trials by device and operation: histograms add, means by counts."""
    for device in dict.fromkeys(name for trial in traced for name in trial):
        of_device = [trial[device] for trial in traced if device in trial]
        for operation in dict.fromkeys(name for trial in of_device for name in trial):
            trials = [trial[operation] for trial in of_device if operation in trial]
            count = sum(trial.count for trial in trials)
            yield PooledRequests.pool(
                operation,
                [trial.latencies_us for trial in trials],
                max(trial.max_us for trial in trials),
                device=device,
                mean_us=math.fsum(trial.count * trial.mean_us for trial in trials) / count,
            )


_KNOWN = (
    "Microseconds from the issue of a request to the driver to its completion (kernel "
    "tracepoints), without the time in the I/O scheduler, which r_await and w_await include. All "
    "requests of the counted trials, of any process; percentiles to 4.4 %; not used for verdicts. "
    "Tracing adds a small cost to every request: compare these trials with traced trials only."
)


def build_block_latency_sections(workload: WorkloadReport, report: Report) -> Iterator[Section]:
    """A row for each device, operation and configuration; nothing where nothing was traced."""
    traced = [latency for latency in report.block_requests if latency.workload == workload.label]
    if not traced:
        return
    pooled = [(pair.configuration, requests) for pair in traced for requests in pair.requests]
    # The device under test is first, and configurations are next to each other.
    kinds = list(dict.fromkeys((requests.device, requests.operation) for _, requests in pooled))
    kinds.sort(key=lambda kind: kind[0] != report.device)
    pooled.sort(key=lambda pair: kinds.index((pair[1].device, pair[1].operation)))
    rows = [
        {
            "device": requests.device,
            "operation": requests.operation,
            report.noun: configuration,
            "mean": format_figure(requests.mean_us),
            **{name: format_figure(us) for name, us in requests.percentiles_us.items()},
            "count": requests.count,
        }
        for configuration, requests in pooled
    ]
    notes = [_KNOWN]
    notes += (
        f"{latency.configuration}: {lost} events "
        f"({format_percent(lost / (latency.events + lost))}) were lost in a full buffer: their "
        "requests are missing."
        for latency in traced
        if (lost := latency.lost_events)
    )
    if not rows:
        notes.append("No request was traced on the devices of the target.")
    tables = [make_table(rows, names=3)] if rows else []
    yield Section("requests", "Block request latency", notes, tables=tables)
