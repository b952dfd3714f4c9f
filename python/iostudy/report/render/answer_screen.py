"""Layout of an answer on one screen: at most 24 lines of 80 columns, as lines of rich text."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from iostudy.analysis.verdict import Verdict
from iostudy.report.answer import Answer
from iostudy.report.bars import SHOWN_MARGINS, format_interval_axis, format_interval_bar
from iostudy.report.base import State
from iostudy.report.formatting import format_against, format_count
from iostudy.report.topics.verdicts import (
    FigureVerdicts,
    Result,
    choose_verdict_symbol,
    format_change,
    format_slow_runs,
    format_value,
)
from iostudy.units import format_percent, format_seconds
from iostudy.visible import visible

LINES, COLUMNS = 24, 80
VERDICT_STYLES = {
    Verdict.BETTER: "green",
    Verdict.WORSE: "red",
    Verdict.EQUIVALENT: "blue",
    Verdict.NOT_WORSE: "blue",
    Verdict.NOT_BETTER: "blue",
    Verdict.INCONCLUSIVE: "dim",
}
FLAG = "!"
_FLAGGED = f"{FLAG} an assumption of this verdict does not hold; the report says which"
_GAP = "  "
_PASTED = _COMMAND, _PATH = "  $ ", "report  "
"""Beginnings of lines to paste."""
_STEPS = 2
_LEAST_LABEL, _LEAST_PLOT, _LARGEST_PLOT = 10, 13, 25
_CUT = "…"
_SCALES = SHOWN_MARGINS, 5, 10
"""Half the scale of plots, in margins; arrows mark what is beyond the longest."""


def lay_out(answer: Answer, width: int = COLUMNS) -> list[Text]:
    """Return the lines. Commands and paths are never folded or cut, so they can be pasted."""
    width = min(width, COLUMNS)
    for sentences, reasons, rows in ((4, 3, 99), (2, 2, 99), (2, 1, 5), (2, 1, 3), (1, 1, 2)):
        for gap in (True, False):
            groups = _groups(answer, width, sentences, reasons, rows)
            lines = _join(groups, gap=gap)
            if len(lines) <= LINES:
                return _cropped(lines, width)
    left = LINES - len(lines) + len(groups.tables)
    return _cropped(_join(groups.with_tables(left), gap=False), width)


def _cropped(lines: list[Text], width: int) -> list[Text]:
    """Cut what letters of double width and figures beyond all measure have made too long."""
    for line in lines:
        if not line.plain.startswith(_PASTED):
            line.truncate(width, overflow="ellipsis")
    return lines


@dataclass(frozen=True)
class _Groups:
    """The lines of an answer, by group."""

    head: list[Text]
    tables: list[Text]
    end: list[Text]

    def with_tables(self, most: int) -> _Groups:
        """Return the groups with so many lines of tables; the last one counts the others."""
        left = len(self.tables) - most + 1
        more = _line(f"… {format_count(left, 'more line')}: see the report", "dim")
        return _Groups(self.head, [*self.tables[: most - 1], more], self.end)


def _join(groups: _Groups, *, gap: bool) -> list[Text]:
    parts = [part for part in (groups.head, groups.tables, groups.end) if part]
    blank = [Text()]
    lines = [line for part in parts for line in (*blank, *part)][1:]
    return lines if gap else [line for line in lines if line.plain]


def _groups(answer: Answer, width: int, sentences: int, reasons: int, rows: int) -> _Groups:
    sentence = (_line(text, "bold") for text in _wrap(answer.sentence, width, sentences))
    head = [_question(answer, width), Text(), *sentence]
    return _Groups(head, _tables(answer, width, rows), list(_end(answer, width, reasons)))


def _question(answer: Answer, width: int) -> Text:
    """The question, with the time on the right if there is room."""
    status = _status(answer)
    question = " ".join(visible(answer.question).split())
    left = width - cell_len(question) - cell_len(status)
    if left < len(_GAP):
        return _line(_wrap(question, width, 1)[0])
    return Text.assemble(question, " " * left, (status, "dim"))


def _status(answer: Answer) -> str:
    if answer.is_decided:
        word = "decided after"
    else:
        word = "open after" if answer.state is State.COMPLETE else "stopped after"
    return f"{word} {format_seconds(answer.seconds)} of trials"


def _tables(answer: Answer, width: int, most_rows: int) -> list[Text]:
    shape = _Shape.of(answer, width)
    lines: list[Text] = []
    for table in answer.tables:
        lines.append(shape.head(table))
        shown = _most_important(table.results, most_rows)
        lines += (shape.row(result) for result in shown)
        if left := len(table.results) - len(shown):
            lines.append(_line(f"{_GAP}… {left} more: see the report", "dim"))
    if any(result.flags or result.fragile for t in answer.tables for result in t.results):
        lines.append(_line(_FLAGGED, "dim"))
    if slow := "; ".join(_slow_runs(answer)):
        lines += map(_line, _wrap(f"slow or failed runs: {slow}", width, 2))
    return lines


def _slow_runs(answer: Answer) -> Iterator[str]:
    """Yield where runs were slow or failed, and the bound of their share; that of all if none."""
    known = [(t.name, r, r.slow) for t in answer.tables for r in t.results if r.slow]
    named = [each for each in known if each[2].slow]
    for name, result, _ in named:
        yield f"{result.configuration} on {name} {format_slow_runs(result)}"
    if known and not named:
        most = max(slow.at_most for _, _, slow in known)
        yield f"none, at most {format_percent(most)} of any configuration's"


def _most_important(results: Sequence[Result], most: int) -> list[Result]:
    """Return the baseline and the largest differences, in the given order."""
    if len(results) <= most:
        return list(results)
    ordered = sorted(results[1:], key=lambda r: -abs(r.change or 0.0) if _differs(r) else 1.0)
    kept = {result.configuration for result in ordered[: most - 1]}
    return [results[0], *(r for r in results[1:] if r.configuration in kept)]


def _differs(result: Result) -> bool:
    return result.verdict in (Verdict.BETTER, Verdict.WORSE)


def _unit(table: FigureVerdicts) -> str:
    """Return the unit of the figure, after its percentile if it is one: ``p99 us``."""
    percentile = re.search(r"_(p[0-9.]+)$", table.figure.name)
    return visible(f"{percentile[1]} {table.figure.unit}" if percentile else table.figure.unit)


@dataclass(frozen=True)
class _Shape:
    """Widths of the columns, which all tables of an answer share, and the margin of the plots."""

    label: int
    value: int
    change: int
    verdict: int
    plot: int
    margin: float
    shown: int

    @classmethod
    def of(cls, answer: Answer, width: int) -> _Shape:
        """Return the widths that fit; the plot has what is left, or is left out."""
        results = [result for table in answer.tables for result in table.results]
        labels = [visible(result.configuration) for result in results]
        heads = [visible(table.name) for table in answer.tables]
        values = [*map(format_value, results), *map(_unit, answer.tables)]
        changes = [
            *(_change(result) for result in results),
            *(_against(table) for table in answer.tables),
        ]
        value, change = (max(map(cell_len, texts), default=0) for texts in (values, changes))
        verdict = max((cell_len(_verdict(result)) for result in results), default=0)
        room = width - value - change - verdict - 4 * len(_GAP)
        wanted = max((cell_len(text) for text in (*labels, *heads)), default=0)
        label = max(_LEAST_LABEL, min(wanted, room))
        left = room - label - len(_GAP)
        plot = min(left - (left + 1) % 2, _LARGEST_PLOT) if left >= _LEAST_PLOT else 0
        shown = _shown_margins(results, answer.margin)
        return cls(label, value, change, verdict, plot, answer.margin, shown)

    def head(self, table: FigureVerdicts) -> Text:
        """The workload, its unit, the baseline, and the axis."""
        cells = (
            _pad(_cut(visible(table.name), self.label + len(_GAP)), self.label + len(_GAP)),
            _unit(table).rjust(self.value),
            _pad(_against(table), self.change),
            " " * self.verdict,
            self._axis(),
        )
        return _line(_GAP.join(cells).rstrip(), "bold")

    def row(self, result: Result) -> Text:
        """A configuration with its value, change, verdict and interval."""
        cells = (
            _GAP + _pad(_cut(visible(result.configuration), self.label), self.label),
            format_value(result).rjust(self.value),
            _change(result).rjust(self.change),
        )
        style = VERDICT_STYLES[result.verdict] if result.verdict else "dim"
        verdict = (_pad(_verdict(result), self.verdict), style)
        text = Text.assemble(_GAP.join(cells), _GAP, verdict, _GAP, self._interval(result))
        text.rstrip()
        return text

    def _axis(self) -> str:
        return format_interval_axis(self.margin, self.plot, self.shown) if self.plot else ""

    def _interval(self, result: Result) -> str:
        if not self.plot or result.interval is None or result.change is None:
            return ""
        low, high, change = (
            end / self.margin for end in (result.interval.low, result.interval.high, result.change)
        )
        return format_interval_bar(
            low, high, self.plot, final=True, estimate=change, shown=self.shown
        )


def _shown_margins(results: Sequence[Result], margin: float) -> int:
    """Return half the scale of all plots, in margins."""
    ends = [abs(end) for r in results if r.interval for end in (r.interval.low, r.interval.high)]
    needed = max(ends, default=0.0) / margin
    return next((scale for scale in _SCALES if scale >= needed), _SCALES[-1])


def _against(table: FigureVerdicts) -> str:
    return format_against(visible(table.results[0].configuration))


def _change(result: Result) -> str:
    return "" if result.baseline else format_change(result)


def _verdict(result: Result) -> str:
    if result.baseline:
        return ""
    if result.verdict is None or not result.blocks:
        return "no data"
    flag = f" {FLAG}" if result.flags or result.fragile else ""
    return f"{choose_verdict_symbol(result.verdict)} {result.verdict}{flag}"


def _end(answer: Answer, width: int, reasons: int) -> Iterator[Text]:
    """Reasons, the first next steps, and the path of the report."""
    if answer.reasons:
        text = f"why: {'; '.join(answer.reasons)}"
        yield from map(_line, _wrap(text, width, reasons))
    for step in answer.next_steps[:_STEPS]:
        yield from map(_line, _wrap(visible(step.text), width, 2))
        if step.command:
            yield _line(f"{_COMMAND}{step.command}")
    if answer.report:
        yield _line(f"{_PATH}{answer.report}", "dim")


def _wrap(text: str, width: int, most: int) -> list[str]:
    lines = textwrap.wrap(visible(text), width, break_on_hyphens=False) or [""]
    if len(lines) <= most:
        return lines
    rest = textwrap.shorten(" ".join(lines[most - 1 :]), width, placeholder=f" {_CUT}")
    return [*lines[: most - 1], rest]


def _cut(text: str, width: int) -> str:
    """Shorten a text in its middle, where labels differ least."""
    if cell_len(text) <= width:
        return text
    half = (width - 1) / 2
    start = set_cell_size(text, math.ceil(half)).rstrip()
    return f"{start}{_CUT}{text[-math.floor(half) :].lstrip()}"


def _pad(text: str, width: int) -> str:
    return set_cell_size(text, width)


def _line(text: str, style: str = "") -> Text:
    return Text(visible(text), style=style, no_wrap=True, overflow="ignore")
