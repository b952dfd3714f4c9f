"""Live lines of a running study: phase, time left, host, and the comparisons so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console, ConsoleOptions
from rich.text import Text

from iostudy.analysis.verdict import Verdict
from iostudy.cli.comparison_lines import ComparisonTable
from iostudy.cli.streams import replace_unencodable
from iostudy.report.base import build_span
from iostudy.report.formatting import format_change_interval
from iostudy.results.comparisons import ComparisonResult, exclude_bounds
from iostudy.visible import visible


@dataclass(frozen=True)
class LiveView:
    """The live lines, cut to the width and the height of the terminal.

    What is taller cannot be taken back: it would stay in the scrollback at every change. Without
    room for every comparison, each workload has a line.
    """

    phase: str
    left: str = ""
    host: str = ""
    detail: str = ""
    status: str = ""
    table: ComparisonTable | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        room = console.height - 1
        for line in self._lines(options.max_width, room):
            shown = _encodable(line, options.encoding)
            shown.no_wrap = True
            shown.overflow = "crop" if options.ascii_only else "ellipsis"
            yield shown

    def _lines(self, width: int, room: int) -> list[Text]:
        head = "; ".join(filter(None, (self.phase, self.left, self.host)))
        lines = [Text(visible(text)) for text in (head, self.detail, self.status) if text]
        if self.table is None:
            return lines[:room]
        if len(lines) + self.table.height <= room:
            return [*lines, *self.table.lines(width)]
        lines += [Text(visible(text)) for text in _format_workloads(self.table.results)]
        if len(lines) > room:
            more = Text(f"and {len(lines) - room + 1} workloads more")
            return [*lines[: room - 1], more]
        return lines


def is_decided(result: ComparisonResult) -> bool:
    """Return whether a comparison has a final verdict."""
    return result.comparison.verdict.is_final


def _encodable(line: Text, encoding: str) -> Text:
    """The line in characters that the terminal can print; other ones would change its width."""
    if (text := replace_unencodable(line.plain, encoding)) == line.plain:
        return line
    return Text(text, spans=line.spans if len(text) == len(line.plain) else [])


def _format_workloads(current: Sequence[ComparisonResult]) -> Iterator[str]:
    for title, group in groupby(current, key=lambda result: result.title):
        yield f"{title}: {_format_counts(own := list(group))}{_format_best(own)}"


def _format_counts(results: Sequence[ComparisonResult]) -> str:
    """Count the decided comparisons of a workload: ``1 of 3 decided (1 better)``."""
    found = Counter(result.comparison.verdict for result in results if is_decided(result))
    verdicts = ", ".join(f"{found[verdict]} {verdict}" for verdict in Verdict if found[verdict])
    text = f"{found.total()} of {len(results)} decided"
    return f"{text} ({verdicts})" if verdicts else text


def _format_best(results: Sequence[ComparisonResult]) -> str:
    """Return the best configuration and the baseline, with the change once it has an interval."""
    known = [
        s for s in exclude_bounds(results) if build_span(s.comparison.change_interval) is not None
    ]
    if not known:
        return ""
    best = max(known, key=lambda result: result.comparison.estimate)
    interval = build_span(best.comparison.change_interval)
    change = format_change_interval(best.comparison.change, interval)
    interim = "" if is_decided(best) else "interim "
    return f"; best: {interim}{change} {best.configuration}"
