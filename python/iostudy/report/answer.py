"""Answer of a study on one screen, from its report: at most 24 lines of 80 columns (pure)."""

from __future__ import annotations

import math
import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions
from rich.text import Text

from iostudy.analysis.decision import MIN_ORDERS
from iostudy.analysis.verdict import Verdict
from iostudy.report.bars import SHOWN_MARGINS, format_interval_axis, format_interval_bar
from iostudy.report.base import State, Step
from iostudy.report.drawing import BLUE, GREEN, GREY, RED, VERDICT_MARKS
from iostudy.report.formatting import format_against, format_count, quote_label
from iostudy.report.topics.covariates import describe_disturbances, list_open_workloads
from iostudy.report.topics.verdicts import (
    FigureVerdicts,
    Result,
    choose_verdict_symbol,
    format_change,
    format_slow_runs,
    format_value,
    list_verdicts,
)
from iostudy.report.values import Report
from iostudy.units import format_percent, format_seconds
from iostudy.visible import visible
from iostudy.workloads.external.extract import AS_PRINTED


@dataclass(frozen=True)
class Answer:
    """Answer of a study: sentence, verdicts, reasons and next steps.

    - ``noun``: the varied factor in one word
    - ``is_decided``: every comparison has a verdict
    - ``seconds``: time of all trials and windows
    - ``margin``: equivalence margin, as a fraction
    - ``reasons``: why comparisons have no verdict; empty if all have one
    - ``next_steps``: in order; each command works where the answer is printed
    - ``report``: path of the HTML report; empty without one
    """

    question: str
    sentence: str
    noun: str
    is_decided: bool
    seconds: float
    margin: float
    tables: Sequence[FigureVerdicts]
    reasons: Sequence[str]
    next_steps: Sequence[Step]
    report: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield from lay_out(self, options.max_width)


_PAGE = "report.html"
_EXPLAINS = 0.25
"""Share of the variance from which its cause is named as a reason."""


def build_answer(report: Report, folder: Path | None) -> Answer:
    """Build the answer; commands and the report's path name ``folder`` as the user did."""
    tables = list_verdicts(report.workloads)
    # Trials take time around the workload, too.
    trials = sum(sum(filter(None, trial.phases.values())) for trial in report.trials)
    windows = sum(run.seconds for switchback in report.switchback for run in switchback.runs)
    compared = [result for table in tables for result in table.results[1:]]

    names = {str(folder.absolute()): str(folder)} if folder else {}

    def name_as_given(step: Step) -> Step:
        """Return the step with the folder in its command as the user named it."""
        words = [names.get(word, word) for word in shlex.split(step.command)]
        return step.model_copy(update={"command": shlex.join(words)})

    return Answer(
        question=report.question,
        sentence=report.headline,
        noun=report.noun,
        is_decided=bool(compared) and not any(result.is_open for result in compared),
        seconds=trials + windows,
        margin=report.method.margin,
        tables=tables,
        reasons=list(_reasons(report, compared)),
        next_steps=[name_as_given(step) for step in report.next_steps],
        report=str(folder / _PAGE) if folder else "",
    )


def _reasons(report: Report, compared: list[Result]) -> Iterator[str]:
    """Yield why comparisons have no verdict, from the strongest evidence to the weakest."""
    for lost in report.given_up:
        yield f"{lost.workload} was given up in block {lost.block}: {lost.explanation}"
    open_ = [result for result in compared if result.is_open]
    if not open_:
        return
    is_apart = [result.is_apart for result in open_]
    if not all(is_apart):
        yield from _explain_noise(report)
    if any(is_apart):
        fewest = format_count(report.method.min_blocks, "block")
        first = f"each of two configurations first in {MIN_ORDERS} of them"
        yield f"a verdict needs at least {fewest}, and {first}"
    if rare := report.method.rare:
        limit = f"slow runs of both to be rarer than {format_percent(rare)}"
        yield f"equivalent and not worse also need {limit}, which may take more blocks"
    if report.state is State.STOPPED:
        yield "not all blocks have run"


def _explain_noise(report: Report) -> Iterator[str]:
    waiting, causes = list_open_workloads(report.workloads), []
    for noises in report.noise_causes:
        workload = noises.workload
        for cause in noises.causes[:1]:
            if cause.share >= _EXPLAINS and workload in waiting:
                by = f" ({cause.process})" if cause.process else ""
                share = format_percent(round(cause.share, 2))
                causes.append(f"{share} of the noise of {workload} goes with {cause.cause}{by}")
    disturbed = describe_disturbances(report.workloads, report.covariates)
    yield from causes or (text for text in disturbed if text not in report.headline)
    noisy = [
        (workload.noise, ran, workload.label)
        for workload in report.workloads
        if workload.noise is not None and workload.label in waiting
        # Otherwise a difference of the margin would have been found.
        if report.method.min_blocks
        <= (ran := max(result.blocks for result in workload.results))
        < workload.noise.blocks
    ]
    if noisy:
        noise, ran, label = max(noisy, key=lambda entry: entry[0].blocks)
        sd, margin = (format_percent(round(share, 3)) for share in (noise.sd, noise.margin))
        too_much = f"too much to tell {margin} apart in {format_count(ran, 'block')}"
        yield f"pairs of runs of {label} vary by {sd}, {too_much}"


LINES, COLUMNS = 24, 80
_STYLES = {GREEN: "green", RED: "red", BLUE: "blue", GREY: "dim"}
VERDICT_STYLES = {verdict: _STYLES[colour] for verdict, (colour, _) in VERDICT_MARKS.items()}
_DIFFERENT = Verdict.BETTER, Verdict.WORSE
FLAG = "!"
_FLAGGED = f"{FLAG} an assumption fails: see the report"
_GAP = "  "
_PASTED = _COMMAND, _PATH = "  $ ", "report  "
"""Beginnings of lines to paste."""
_STEPS = 2
_FITS = (4, 3, 99, 1), (2, 2, 99, 1), (2, 1, 99, 0), (2, 1, 5, 1), (2, 1, 3, 1), (1, 1, 2, 1)
"""Lines of the sentence and of reasons, rows of a table, and lines of their changes."""
_NARROW_LABEL, _LEAST_LABEL, _LEAST_PLOT, _LARGEST_PLOT = 6, 10, 13, 25
_CUT = "…"
_SCALES = SHOWN_MARGINS, 5, 10
"""Half the scale of plots, in margins; arrows mark what is beyond the longest."""


def lay_out(answer: Answer, width: int = COLUMNS) -> list[Text]:
    """Return the lines. Commands and paths are never folded or cut, so they can be pasted."""
    width = min(width, COLUMNS)
    for sentences, reasons, rows, changes in _FITS:
        head, end = _head(answer, width, sentences), list(_end(answer, width, reasons))
        tables = _tables(answer, width, rows, changes)
        for gap in (True, False):
            lines = _join((head, tables, end), gap=gap)
            if len(lines) <= LINES:
                return _crop(lines, width)
    # The last line of the tables counts those that are left out.
    most = LINES - len(lines) + len(tables)
    more = f"… {format_count(len(tables) - most + 1, 'more line')}: see the report"
    tables = [*tables[: most - 1], _line(more, "dim")]
    return _crop(_join((head, tables, end), gap=False), width)


def _crop(lines: list[Text], width: int) -> list[Text]:
    """Cut what letters of double width and figures beyond all measure have made too long."""
    for line in lines:
        if not line.plain.startswith(_PASTED):
            line.truncate(width, overflow="ellipsis")
    return lines


def _join(groups: Sequence[list[Text]], *, gap: bool) -> list[Text]:
    lines = [line for group in groups if group for line in (Text(), *group)][1:]
    return lines if gap else [line for line in lines if line.plain]


def _head(answer: Answer, width: int, sentences: int) -> list[Text]:
    """Return the question, with the time on the right if there is room, and the sentence."""
    word = "decided after" if answer.is_decided else "open after"
    status = f"{word} {format_seconds(answer.seconds)} of trials"
    question = " ".join(visible(answer.question).split())
    left = width - cell_len(question) - cell_len(status)
    first = Text.assemble(question, " " * left, (status, "dim"))
    if left < len(_GAP):
        first = _line(_wrap(question, width, 1)[0])
    return [first, Text(), *(_line(t, "bold") for t in _wrap(answer.sentence, width, sentences))]


def _rank(result: Result) -> float:
    """Sort the largest differences first; failed runs are more than any of them."""
    if result.verdict not in _DIFFERENT:
        return 1.0
    return -math.inf if result.change is None else -abs(result.change)


def _tables(answer: Answer, width: int, most_rows: int, changes: int) -> list[Text]:
    shape = _Shape.of(answer, width)
    lines: list[Text] = []
    for table in answer.tables:
        lines.append(shape.head(table))
        baseline, *others = table.results
        if len(others) >= most_rows:
            # The largest differences, in the given order.
            ranked = sorted(others, key=_rank)[: most_rows - 1]
            others = [result for result in others if result in ranked]
        for result in (baseline, *others):
            lines += islice(shape.rows(result), 1 + changes)
        if left := len(table.results) - 1 - len(others):
            lines.append(_line(f"{_GAP}… {left} more: see the report", "dim"))
    if any(_verdict(result).endswith(FLAG) for t in answer.tables for result in t.results):
        lines.append(_line(_FLAGGED, "dim"))
    many = len(answer.tables) > 1
    known = [
        (quote_label(result.configuration) + (f" on {table.name}" if many else ""), result, runs)
        for table in answer.tables
        for result in table.results
        if (runs := result.slow)
    ]
    slow = "; ".join(f"{name} {format_slow_runs(r)}" for name, r, runs in known if runs.slow)
    if not slow and any(runs.runs for _, _, runs in known):
        most = max(runs.at_most for _, _, runs in known)
        slow = f"none, at most {format_percent(most)} of any configuration's"
    if slow:
        lines += map(_line, _wrap(f"slow or failed runs: {slow}", width, 2))
    return lines


def _unit(table: FigureVerdicts) -> str:
    """Return the unit of the figure, after its percentile if it is one: ``p99 us``.

    A figure without a unit has its name, where the table has another one.
    """
    figure = table.figure
    if figure.unit == AS_PRINTED and figure.name != table.name:
        return visible(figure.name)
    percentile = re.search(r"_(p[0-9.]+)$", figure.name)
    return visible(f"{percentile[1]} {figure.unit}" if percentile else figure.unit)


@dataclass(frozen=True)
class _Shape:
    """Widths of the columns, which all tables of an answer share, and the margin of the plots.

    Without room for changes next to verdicts, each has a line of its own.
    """

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
        labels = [result.configuration for result in results] + [t.name for t in answer.tables]
        changes = [*map(_change, results), *map(_against, answer.tables)]
        columns = map(format_value, results), map(_unit, answer.tables), map(_verdict, results)
        value, unit, verdict, change, wanted = (
            max(map(cell_len, texts), default=0)
            for texts in (*columns, changes, map(visible, labels))
        )
        most = max(_NARROW_LABEL, width - verdict - 3 * len(_GAP) - _NARROW_LABEL)
        value = min(max(value, min(unit, width // 3)), most)
        room = width - value - change - verdict - 4 * len(_GAP)
        if room < _LEAST_LABEL:
            room, change = room + change + len(_GAP), 0
        label = max(_NARROW_LABEL, min(max(wanted, _LEAST_LABEL), room))
        left = room - label - len(_GAP)
        plot = min(left - (left + 1) % 2, _LARGEST_PLOT) if left >= _LEAST_PLOT else 0
        ends = [end for r in results if r.interval for end in (r.interval.low, r.interval.high)]
        needed = max(map(abs, ends), default=0.0) / answer.margin
        shown = next((scale for scale in _SCALES if scale >= needed), _SCALES[-1])
        return cls(label, value, change, verdict, plot, answer.margin, shown)

    def head(self, table: FigureVerdicts) -> Text:
        """The workload, its unit, the baseline, and the axis."""
        label = self.label + len(_GAP)
        cells = (
            set_cell_size(_cut(visible(table.name), label), label),
            _cut(_unit(table), self.value).rjust(self.value),
            set_cell_size(_against(table), self.change) if self.change else _against(table),
            " " * self.verdict,
            format_interval_axis(self.margin, self.plot, self.shown) if self.plot else "",
        )
        return _line(_GAP.join(cells).rstrip(), "bold")

    def rows(self, result: Result) -> Iterator[Text]:
        """A configuration with its value, change, verdict and interval."""
        against = _change(result)
        cells = (
            _GAP + set_cell_size(_cut(visible(result.configuration), self.label), self.label),
            _cut(format_value(result), self.value).rjust(self.value),
            *([against.rjust(self.change)] if self.change else []),
        )
        style = VERDICT_STYLES[result.verdict] if result.verdict else "dim"
        verdict = (set_cell_size(_verdict(result), self.verdict), style)
        bar = ""
        if self.plot and result.interval is not None and result.change is not None:
            ends = (result.interval.low, result.interval.high, result.change)
            low, high, change = (end / self.margin for end in ends)
            bar = format_interval_bar(
                low, high, self.plot, final=True, estimate=change, shown=self.shown
            )
        text = Text.assemble(_GAP.join(cells), _GAP, verdict, _GAP, bar)
        text.rstrip()
        yield text
        if against and not self.change:
            yield _line(_GAP * 2 + against)


def _against(table: FigureVerdicts) -> str:
    return format_against(visible(table.results[0].configuration))


def _change(result: Result) -> str:
    return "" if result.baseline else format_change(result)


def _verdict(result: Result) -> str:
    flag = f" {FLAG}" if result.flags or result.fragile else ""
    if result.baseline:
        return flag.strip()
    if result.verdict is None or not result.blocks:
        return "no data"
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
    # A number keeps its unit.
    text, more = visible(text).replace(" %", "\xa0%"), f" {_CUT}"
    lines = textwrap.wrap(text, width, max_lines=most, placeholder=more, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines] or [""]


def _cut(text: str, width: int) -> str:
    """Shorten a text in its middle, where labels differ least."""
    if cell_len(text) <= width:
        return text
    half = (width - 1) / 2
    start = set_cell_size(text, math.ceil(half)).rstrip()
    return f"{start}{_CUT}{text[-math.floor(half) :].lstrip()}"


def _line(text: str, style: str = "") -> Text:
    return Text(visible(text), style=style, no_wrap=True, overflow="ignore")
