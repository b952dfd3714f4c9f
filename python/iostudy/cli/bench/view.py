"""Terminal output of ``bench``: one screen, or all figures, latencies, parts and telemetry."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel

from iostudy.cli.bench.block_requests import print_block_requests
from iostudy.cli.console import print_line, print_numbers, print_table, say
from iostudy.cli.plan_lines import COLUMNS
from iostudy.diagnosis.bottleneck import Diagnosis
from iostudy.node.protocol import TrialResult
from iostudy.report.bars import format_bars
from iostudy.report.section import TextTable
from iostudy.report.topics.measurements import build_matrices
from iostudy.units import format_reading, format_significant
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.measurement import BYTES, Histogram, Part
from iostudy.workloads.native.latency import percentiles_us

_MOST_LINES = 22
_METERS = (
    ("%util", "busy {:.0f} %"),
    ("aqu-sz", "queue {:.1f}"),
    ("r_await", "read wait {:.2f} ms"),
    ("w_await", "write wait {:.2f} ms"),
)
"""iostat's figures on the screen."""
_NEXT = "one run has no error bounds: `iostudy try` compares; --full has every figure"


def print_screen(
    definition: WorkloadDefinition, options: BaseModel, result: TrialResult, limited: Diagnosis
) -> None:
    """Main figures, latencies, the first device and the bottleneck; notes on stderr."""
    readings = [
        f"{figure.name} {format_reading(value, figure.unit)}"
        for figure, value in _pair_figures(definition.figures(options), result.figures)
        if figure.name != BYTES
    ]
    lines = [*_wrap("; ".join(readings))]
    for operation, histogram in result.latencies.items():
        if histogram and f"{operation}_latency_p50" not in result.figures:
            own = percentiles_us(histogram)
            shown = ", ".join(f"{name} {format_significant(own[name])}" for name in own)
            lines += _wrap(f"{operation} latency, us: {shown}")
    for device in result.devices[:1]:
        telemetry = result.telemetry.summary.devices.get(device, {})
        known = [text.format(telemetry[name]) for name, text in _METERS if name in telemetry]
        lines += _wrap(f"{device}: {', '.join(known)}")
    for sentence in limited.sentences:
        lines += _wrap(f"{sentence}.")
    for line in lines[:_MOST_LINES]:
        print_line(line)
    print_line(_NEXT)


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, COLUMNS, break_on_hyphens=False)


def print_result(
    definition: WorkloadDefinition, options: BaseModel, result: TrialResult, limited: Diagnosis
) -> None:
    """All of it on stdout, and the notes on stderr."""
    # Imported here: the report of telemetry loads statistics, which takes most of a second.
    from iostudy.report.formatting import format_figure
    from iostudy.report.topics.telemetry import convert_meter_value, format_meter_name

    figures = [
        (figure.name, *_format_value(value, figure.unit), figure.documentation)
        for figure, value in _pair_figures(definition.figures(options), result.figures)
    ]
    print_table(("figure", "value", "unit", "meaning"), figures)
    _print_latencies(result.latencies)
    for figure in definition.part_figures(options):
        _print_parts(figure, result.parts)
    for device in result.devices or ("no device",):
        telemetry = result.telemetry.summary.devices.get(device, {})
        readings = [
            (format_meter_name(n), format_figure(convert_meter_value(n, v)))
            for n, v in telemetry.items()
        ]
        print_line()
        print_table((device, ""), readings)
    requests = result.telemetry.summary.requests
    if requests is not None:
        print_block_requests(requests)
    print_line()
    for sentence in limited.sentences:
        print_line(f"{sentence}.")
    for note in (*result.notes, *(requests.notes() if requests else ())):
        say(f"note: {note}")
    say("this is one run without error bounds; `iostudy try` compares configurations")


def _pair_figures(
    figures: Sequence[Figure], values: Mapping[str, float]
) -> Iterator[tuple[Figure, float]]:
    return ((figure, values[figure.name]) for figure in figures if figure.name in values)


def _format_value(value: float, unit: str) -> tuple[str, str]:
    number, _, shown_unit = format_reading(value, unit).partition(" ")
    return number, shown_unit


def _print_latencies(latencies: Mapping[str, Histogram]) -> None:
    known = {operation: own for operation, own in latencies.items() if own}
    if not known:
        return
    percentiles = {operation: percentiles_us(own) for operation, own in known.items()}
    heads = ("latency, us", *next(iter(percentiles.values())), "measured")
    rows = [
        (
            operation,
            *map(format_significant, own.values()),
            str(sum(count for _, count in known[operation])),
        )
        for operation, own in percentiles.items()
    ]
    print_line()
    print_table(heads, rows)
    for operation, own in known.items():
        print_line()
        print_table((f"{operation}, up to us", "share, %", ""), list(format_bars(own)))


def _print_parts(figure: Figure, parts: Sequence[Part]) -> None:
    """Print matrix cells as a matrix per operation, other parts as a row each."""
    own = [
        (part.labels, part.figures[figure.name]) for part in parts if figure.name in part.figures
    ]
    if not own:
        return
    print_line()
    print_line(f"{figure.name} of each part, {figure.unit}: {figure.documentation}")
    for matrix in build_matrices(own):
        heads, rows = matrix.table(format_significant)
        print_numbers(TextTable(matrix.operation, heads, rows, names=1))
    if not build_matrices(own):
        print_numbers(_build_parts_table(own, figure.name))


def _build_parts_table(parts: Sequence[tuple[Mapping[str, str], float]], name: str) -> TextTable:
    labels = tuple(dict.fromkeys(label for part, _ in parts for label in part))
    rows = [
        (*(part.get(label, "") for label in labels), format_significant(value))
        for part, value in parts
    ]
    return TextTable("", (*labels, name), rows, names=len(labels))
