"""Output of ``bench`` on a terminal: progress, results, bottlenecks and block requests."""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from pydantic import BaseModel
from rich.live import Live
from rich.text import Text

from iostudy.cli.console import err, print_line, print_numbers, print_table, say
from iostudy.cli.plan_lines import COLUMNS
from iostudy.diagnosis.bottleneck import Diagnosis
from iostudy.node.protocol import TrialResult
from iostudy.report.section import TextTable
from iostudy.report.topics.measurements import tabulate_matrices
from iostudy.telemetry.summary import BlockRequests, Requests
from iostudy.units import (
    KIB,
    format_reading,
    format_rounded_size,
    format_seconds,
    format_significant,
)
from iostudy.visible import visible
from iostudy.workloads.definition import Figure, WorkloadDefinition
from iostudy.workloads.measurement import BYTES, Histogram, Part
from iostudy.workloads.native.latency import percentiles_us
from iostudy.workloads.tick import Tick, continue_run

BAR_LETTERS = 40
"""Length of the longest bar of a histogram."""
_MOST_LINES = 22
_METERS = (
    ("%util", "busy {:.0f} %"),
    ("aqu-sz", "queue {:.1f}"),
    ("r_await", "read wait {:.2f} ms"),
    ("w_await", "write wait {:.2f} ms"),
)
"""iostat's figures on the screen."""
_ROUTINE = ("before every trial", "read in again after that", "touched before the trial")
"""Parts of the notes that hold for every trial."""
_NEXT = "one run has no error bounds: `iostudy try` compares; --full has every figure"


def print_screen(
    definition: WorkloadDefinition, options: BaseModel, result: TrialResult, limited: Diagnosis
) -> None:
    """Main figures, latencies, the first device, bottleneck, block requests; notes on stderr.

    The notes that hold for every trial, such as the state of the page cache, are left out.
    """
    readings = [
        f"{figure.name} {format_reading(value, figure.unit)}"
        for figure, value in _pair_figures(definition.figures(options), result.figures)
        if figure.name != BYTES
    ]
    lines = [*_wrap("; ".join(readings))]
    for operation, histogram in result.latencies.items():
        if histogram and f"{operation}_latency_p50" not in result.figures:
            values = percentiles_us(histogram)
            shown = ", ".join(f"{name} {format_significant(values[name])}" for name in values)
            lines += _wrap(f"{operation} latency, us: {shown}")
    for device in result.devices[:1]:
        telemetry = result.telemetry.summary.devices.get(device, {})
        texts = [text.format(telemetry[name]) for name, text in _METERS if name in telemetry]
        lines += _wrap(f"{device}: {', '.join(texts)}")
    for sentence in limited.sentences:
        lines += _wrap(f"{sentence}.")
    for line in lines[:_MOST_LINES]:
        print_line(line)
    _print_block_requests(result.telemetry.summary.requests)
    print_line(_NEXT)
    special = [note for note in result.notes if not any(part in note for part in _ROUTINE)]
    _print_notes(special, result)


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
        # The number and its unit.
        (figure.name, *format_reading(value, figure.unit).partition(" ")[::2], figure.documentation)
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
    _print_block_requests(result.telemetry.summary.requests)
    print_line()
    for sentence in limited.sentences:
        print_line(f"{sentence}.")
    _print_notes(result.notes, result)
    say("this is one run without error bounds; `iostudy try` compares configurations")


def _print_notes(notes: Sequence[str], result: TrialResult) -> None:
    requests = result.telemetry.summary.requests
    for note in (*notes, *(requests.notes() if requests else ())):
        say(f"note: {note}")


def _pair_figures(
    figures: Sequence[Figure], values: Mapping[str, float]
) -> Iterator[tuple[Figure, float]]:
    return ((figure, values[figure.name]) for figure in figures if figure.name in values)


def _print_latencies(latencies: Mapping[str, Histogram]) -> None:
    measured = {operation: histogram for operation, histogram in latencies.items() if histogram}
    if not measured:
        return
    percentiles = {
        operation: percentiles_us(histogram) for operation, histogram in measured.items()
    }
    heads = ("latency, us", *next(iter(percentiles.values())), "measured")
    rows = [
        (
            operation,
            *map(format_significant, values.values()),
            str(sum(count for _, count in measured[operation])),
        )
        for operation, values in percentiles.items()
    ]
    print_line()
    print_table(heads, rows)
    for operation, histogram in measured.items():
        print_line()
        print_table((f"{operation}, up to us", "share, %", ""), list(format_bars(histogram)))


def format_bars(histogram: Iterable[tuple[float, int]]) -> Iterator[tuple[str, str, str]]:
    """Bound, share in percent and bar for each power of two, from the lowest to the highest.

    Given are counts with their upper bounds, which are above zero.
    """
    counts: dict[int, int] = {}
    for bound, count in histogram:
        power = math.ceil(math.log2(bound))
        counts[power] = counts.get(power, 0) + count
    total, highest = sum(counts.values()), max(counts.values())
    for power in range(min(counts), max(counts) + 1):
        count = counts.get(power, 0)
        bar = "█" * round(BAR_LETTERS * count / highest)
        share = format_significant(100 * count / total)
        upper = str(2**power) if power >= 0 else format_significant(2.0**power)
        yield upper, share, bar or "▏" * bool(count)


def _print_parts(figure: Figure, parts: Sequence[Part]) -> None:
    """Print matrix cells as a matrix per operation, other parts as a row each."""
    values = [
        (part.labels, format_significant(part.figures[figure.name]))
        for part in parts
        if figure.name in part.figures
    ]
    if not values:
        return
    print_line()
    print_line(f"{figure.name} of each part, {figure.unit}: {figure.documentation}")
    for matrix in (matrices := tabulate_matrices(values)):
        print_numbers(matrix)
    if not matrices:
        labels = tuple(dict.fromkeys(label for part, _ in values for label in part))
        rows = [(*(part.get(label, "") for label in labels), text) for part, text in values]
        print_numbers(TextTable("", (*labels, figure.name), rows, names=len(labels)))


def _print_block_requests(measured: BlockRequests | None) -> None:
    """A row for each device and operation, then their histograms; None was not traced."""
    rows = [
        (device, operation, requests)
        for device, operations in (measured.devices if measured else {}).items()
        for operation, requests in operations.items()
    ]
    if not rows:
        return
    heads = ("requests of", "operation", "mean", *percentiles_us(rows[0][2].latencies_us), "us")
    print_line()
    print_table(heads, [_latency_row(*entry) for entry in rows])
    print_line()
    heads = ("requests of", "operation", "count", "mean", "smallest", "largest", "KiB")
    print_table(heads, [_size_row(*entry) for entry in rows])
    for device, operation, requests in rows:
        print_line()
        heads = (f"{operation} of {device}, up to us", "share, %", "")
        print_table(heads, list(format_bars(requests.latencies_us)))
    for device, operation, requests in rows:
        if requests.moved_bytes:
            print_line()
            heads = (f"{operation} of {device}, up to KiB", "share, %", "")
            print_table(
                heads, list(format_bars((size / KIB, count) for size, count in requests.sizes))
            )


def _latency_row(device: str, operation: str, requests: Requests) -> tuple[str, ...]:
    values = (requests.mean_us, *percentiles_us(requests.latencies_us, requests.max_us).values())
    return (device, operation, *map(format_significant, values), "")


def _size_row(device: str, operation: str, requests: Requests) -> tuple[str, ...]:
    sizes = (requests.moved_bytes / requests.count, requests.sizes[0][0], requests.sizes[-1][0])
    kib = (format_significant(size / KIB) for size in sizes)
    return (device, operation, str(requests.count), *kib, "")


_REDRAW_SECONDS = 0.2
"""Often enough to be alive, and seldom enough to cost the workload nothing."""


@contextmanager
def show_progress(definition: WorkloadDefinition) -> Iterator[Tick]:
    """A tick that shows on a terminal what is done; off one it shows nothing."""
    if not err.is_interactive:
        yield continue_run
        return
    # Drawn by the tick and by no thread, which would take CPU time from the workload.
    with Live(Text(""), console=err, auto_refresh=False, transient=True) as live:

        def show(line: str) -> None:
            live.update(Text(visible(line), no_wrap=True, overflow="ellipsis"), refresh=True)

        yield ProgressLine(definition, show).tick


@dataclass
class ProgressLine:
    """Every phase starts its own counts: preparation is not measured."""

    definition: WorkloadDefinition
    show: Callable[[str], None]
    now: Callable[[], float] = time.monotonic
    _done: int = 0
    _began: float = field(init=False)
    _shown: float = field(init=False, default=-_REDRAW_SECONDS)

    def __post_init__(self) -> None:
        self._began = self.now()

    def tick(self, done: int) -> bool:
        """Show it, unless something was shown just before; never asks to stop."""
        now = self.now()
        if done < self._done:
            self._began = now
        self._done = done
        if now - self._shown >= _REDRAW_SECONDS:
            self._shown = now
            self.show(self._format_line(now - self._began))
        return True

    def _format_line(self, seconds: float) -> str:
        elapsed = f"{self.definition.name}: {format_seconds(seconds)}"
        if not self._done or not seconds:
            return elapsed
        rate = self._done / seconds
        if self.definition.ticks_bytes:
            done = format_rounded_size(self._done)
            return f"{elapsed}, {done}, {format_rounded_size(round(rate))}/s"
        return f"{elapsed}, {self._done} done, {format_significant(rate)} per second"
