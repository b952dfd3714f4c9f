"""Report section on the errors of the simulator."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.prediction.text import NOT_VALIDATED, format_error
from iostudy.report.topics.prediction.values import PredictionReport
from iostudy.report.values import Report
from iostudy.units import format_percent


def build_prediction_section(report: Report) -> Section | None:
    """None for a measured study."""
    found = report.prediction
    if found is None:
        return None
    return Section(
        name="prediction",
        title="Errors of the simulator",
        notes=tuple(_notes(found)),
        tables=(_table(found),),
    )


def _notes(found: PredictionReport) -> Iterator[str]:
    yield (
        f"Largest differences from Linux {found.kernel} over the workloads of `{found.command}`, "
        f"run on {found.date} ({found.circumstances}). Other workloads can have larger ones."
    )
    yield (
        f"Of {found.signs_decided} differences above 10 % that the kernel decided, the simulator "
        f"predicted the sign of {found.signs_right}."
    )
    if any(not own.workloads for own in found.errors):
        yield f"{NOT_VALIDATED}: no kernel was compared under this scheduler on {found.drive}."


def _table(found: PredictionReport) -> TextTable:
    heads = ("configuration", "scheduler", "throughput", "99th percentile", "same order")
    rows = [
        (
            *(own.configuration, own.scheduler, format_error(own.rate), format_error(own.p99)),
            NOT_VALIDATED if own.order is None else format_percent(round(own.order, 3)),
        )
        for own in found.errors
    ]
    return TextTable("", heads, rows, names=2)
