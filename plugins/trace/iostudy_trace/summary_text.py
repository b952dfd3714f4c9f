"""Summary of a trace as rows of tables."""

from __future__ import annotations

from collections.abc import Sequence

from iostudy.units import format_percent, format_rounded_size, format_seconds, format_significant
from iostudy_trace.summary import PERCENTILES, TraceSummary

_Table = tuple[Sequence[str], Sequence[Sequence[str]]]
_AT = "/".join(PERCENTILES)


def list_facts(summary: TraceSummary) -> list[tuple[str, str]]:
    """Return what holds for the whole trace."""
    return [
        ("time", format_seconds(summary.seconds)),
        ("events", f"{summary.events}, {summary.lost} lost"),
        ("requests", f"{sum(request.requests for request in summary.requests)}"),
        ("unfinished", f"{summary.unfinished} requests that did not complete in the trace"),
        ("merges", f"{summary.merges}"),
    ]


def list_requests(summary: TraceSummary) -> _Table:
    """Return a row for each device and operation."""
    heads = (
        "device",
        "operation",
        "requests",
        "bytes",
        f"size {_AT}",
        "sequential",
        "mean depth",
        f"latency {_AT}, us",
        f"wait {_AT}, us",
    )
    rows = [
        (
            request.device,
            request.operation,
            f"{request.requests}",
            format_rounded_size(request.bytes),
            " / ".join(format_rounded_size(round(size)) for size in request.sizes),
            format_percent(request.sequential),
            format_significant(request.mean_depth),
            _join(request.latencies_us),
            _join(request.waits_us),
        )
        for request in summary.requests
    ]
    return heads, rows


def list_processes(summary: TraceSummary) -> _Table:
    """Return a row for each of the busiest threads."""
    heads = ("thread", "id", "device", "operation", "bios", "bytes", "sequential")
    rows = [
        (
            process.command,
            f"{process.pid}",
            process.device,
            process.operation,
            f"{process.bios}",
            format_rounded_size(process.bytes),
            format_percent(process.sequential),
        )
        for process in summary.processes
    ]
    return heads, rows


def _join(values: Sequence[float]) -> str:
    return " / ".join(map(format_significant, values)) or "unknown"
