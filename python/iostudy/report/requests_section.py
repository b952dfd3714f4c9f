"""The requests of the disks, where they were traced, as tables of text for every format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iostudy.report import wording
from iostudy.report.columns import TextTable
from iostudy.report.section import Section
from iostudy.report.values.report import Report
from iostudy.report.values.requests import PooledRequestsTold, TracedTold
from iostudy.report.values.results import WorkloadTold
from iostudy.units import format_percent

REQUESTS = "requests"
"""The name of the section."""
_KNOWN = (
    "Microseconds from the issue of a request to the driver to its completion, by the kernel’s "
    "tracepoints: without the time in the I/O scheduler, which r_await and w_await have too. All "
    "requests of the trials that count together, whoever asked for them, percentiles to 4.4 %; no "
    "verdict rests on them. To trace every request costs a little time of each: these trials "
    "compare with each other, and with none that were not traced."
)
_NONE = "No request was seen on any device below the target."


def sections(workload: WorkloadTold, report: Report) -> Iterator[Section]:
    """A row for each device, operation and configuration; nothing where nothing was traced."""
    traced = [own for own in report.block_requests if own.workload == workload.label]
    if not traced:
        return
    rows = list(_rows(traced, report.device))
    yield Section(
        name=REQUESTS,
        title="Requests of each disk",
        known=(_KNOWN, *_lost(traced), *(() if rows else (_NONE,))),
        tables=(_table(rows, report),) if rows else (),
    )


def _rows(traced: Sequence[TracedTold], device: str) -> Iterator[tuple[str, PooledRequestsTold]]:
    """Configurations side by side, by device and operation; the device under test first."""
    every = [(own.configuration, told) for own in traced for told in own.requests]
    kinds = dict.fromkeys((told.device, told.operation) for _, told in every)
    for kind in sorted(kinds, key=lambda kind: kind[0] != device):
        yield from (pair for pair in every if (pair[1].device, pair[1].operation) == kind)


def _table(rows: Sequence[tuple[str, PooledRequestsTold]], report: Report) -> TextTable:
    percentiles = rows[0][1].percentiles_us
    return TextTable(
        title="",
        heads=("device", "operation", report.noun, "mean", *percentiles, "count"),
        rows=[_row(configuration, told) for configuration, told in rows],
        names=3,
    )


def _row(configuration: str, told: PooledRequestsTold) -> tuple[str, ...]:
    figures = map(wording.significant, (told.mean_us, *told.percentiles_us.values()))
    return (told.device, told.operation, configuration, *figures, str(told.count))


def _lost(traced: Sequence[TracedTold]) -> Iterator[str]:
    """How far the figures can be trusted."""
    for own in traced:
        if own.lost_events:
            share = format_percent(own.lost_events / (own.events + own.lost_events))
            yield (
                f"{own.configuration}: {own.lost_events} events ({share}) came too fast to be "
                "read: requests are missing."
            )
