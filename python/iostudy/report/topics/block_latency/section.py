"""Report section on block request latencies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iostudy.report.formatting import format_figure
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.block_latency.values import BlockLatencyReport, PooledRequests
from iostudy.report.values import Report, WorkloadReport
from iostudy.units import format_percent

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
