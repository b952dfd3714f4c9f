"""Live lines of comparisons: the interval against the margin, the verdict and the blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.cells import cell_len
from rich.text import Text

from iostudy.execution.listeners import undecided_configurations
from iostudy.report.answer import VERDICT_STYLES
from iostudy.report.bars import SHORTEST_INTERVAL_BAR, format_interval_axis, format_interval_bar
from iostudy.report.base import build_span, finite
from iostudy.report.formatting import format_change_interval
from iostudy.report.topics.verdicts import choose_verdict_symbol
from iostudy.results.comparisons import ComparisonResult, decision_rule
from iostudy.results.recommendation import is_undecided
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.visible import visible

_LONGEST_BAR = 41
_BAR_STEP = 4
"""Bars are longer by multiples of it, so that their marks are at equal distances."""
_CHANGE = len("+12.3 % [-45.6, +178.9]")
_STATE = len("◆ inconclusive")
"""Widths of the columns of changes and of verdicts."""
_MEASURING = "measuring"
_GIVEN_UP = "given up"
_INTERIM = "measuring: the interval is interim, not final"


@dataclass(frozen=True)
class ComparisonTable:
    """The comparisons of a study so far; ``given_up`` are workloads that it does not complete."""

    study: Study
    results: Sequence[ComparisonResult]
    given_up: Collection[str] = ()

    @property
    def height(self) -> int:
        """The number of lines."""
        headings = len({result.title for result in self.results}) if self._has_headings else 0
        return len(self.results) + headings + 2 if self.results else 0

    def lines(self, width: int) -> Iterator[Text]:
        """Yield the axis, a line for each comparison, and what they are compared with."""
        if not self.results:
            return
        rows = [self._row(result) for result in self.results]
        most = self.study.last_block
        layout = _fit([row.label for row in rows], width, len(f"{most}/{most}"))
        yield Text(
            f"{'':{layout.label}} {format_interval_axis(self.study.decide.margin, layout.bar)}"
        )
        entries = zip(self.results, rows, strict=True)
        for title, group in groupby(entries, lambda entry: entry[0].title):
            if self._has_headings:
                yield Text(visible(title))
            yield from (layout.line(row) for _, row in group)
        yield Text(visible(self._legend(rows)))

    def _row(self, result: ComparisonResult) -> _Row:
        comparison = result.comparison
        interval = (
            comparison.interval if comparison.higher_is_better else comparison.interval.mirrored()
        )
        delta = decision_rule(self.study).delta
        span, change = build_span(comparison.change_interval), finite(comparison.change)
        state, style = self._state(result)
        most = self.study.last_block
        return _Row(
            label=visible(self._label(result)),
            low=interval.low / delta,
            high=interval.high / delta,
            change="" if None in (span, change) else format_change_interval(change, span),
            state=state,
            style=style,
            blocks=f"{comparison.blocks}/{most}" if state == _MEASURING else f"{comparison.blocks}",
            final=state not in (_MEASURING, _GIVEN_UP),
        )

    def _label(self, result: ComparisonResult) -> str:
        if self._has_headings:
            return f"  {result.configuration}"
        return result.title if self._has_one_configuration else result.configuration

    def _state(self, result: ComparisonResult) -> tuple[str, str]:
        """The verdict with its style, or ``measuring`` while further blocks may change it."""
        comparison = result.comparison
        if result.workload in self.given_up:
            return _GIVEN_UP, "dim"
        if self._is_measuring(result):
            return _MEASURING, "dim"
        word = "futile" if comparison.futile else comparison.verdict.value
        symbol = choose_verdict_symbol(comparison.verdict)
        return f"{symbol} {word}", VERDICT_STYLES[comparison.verdict]

    def _is_measuring(self, result: ComparisonResult) -> bool:
        """A level of a screening is measured until every effect is decided."""
        if find_mode(self.study).compares_configurations:
            return is_undecided(self.study, result)
        return bool(undecided_configurations(self.study, result.workload, self.results))

    def _legend(self, rows: Sequence[_Row]) -> str:
        first = self.results[0]
        subject = f"{first.configuration} " if self._has_one_configuration else ""
        against = f"{subject}against {first.baseline}"
        measuring = any(row.state == _MEASURING for row in rows)
        return f"{_INTERIM}; {against}" if measuring else against

    @property
    def _has_one_configuration(self) -> bool:
        return len({result.configuration for result in self.results}) == 1

    @property
    def _has_headings(self) -> bool:
        titles = {result.title for result in self.results}
        return len(titles) > 1 and not self._has_one_configuration


@dataclass(frozen=True)
class _Row:
    """One comparison; ``low`` and ``high`` are the ends of its interval in margins."""

    label: str
    low: float
    high: float
    change: str
    state: str
    style: str
    blocks: str
    final: bool


@dataclass(frozen=True)
class _ColumnWidths:
    """The widths of the columns; a ``change`` of 0 is not shown."""

    label: int
    bar: int
    change: int
    blocks: int

    def line(self, row: _Row) -> Text:
        """Return the line of a comparison."""
        label = Text(row.label)
        label.truncate(self.label, overflow="ellipsis", pad=True)
        bar = format_interval_bar(row.low, row.high, self.bar, final=row.final)
        cells = [f"{row.state:{_STATE}}", f"{row.blocks:>{self.blocks}}"]
        if self.change:
            cells.insert(0, f"{row.change:>{self.change}}")
        return Text.assemble(label, " ", (f"{bar} {' '.join(cells)}", row.style))


def _fit(labels: Sequence[str], width: int, blocks: int) -> _ColumnWidths:
    """Choose the columns: without room for whole labels the bar alone shows the interval.

    The widths do not depend on the figures, so that the lines do not move.
    """
    label, change = max(map(cell_len, labels)), _CHANGE
    rest = width - _STATE - blocks - 3
    if label + SHORTEST_INTERVAL_BAR + change + 1 > rest:
        change = 0
    room = rest - (change + 1 if change else 0)
    steps = (min(room - label, _LONGEST_BAR) - SHORTEST_INTERVAL_BAR) // _BAR_STEP
    bar = SHORTEST_INTERVAL_BAR + max(0, steps) * _BAR_STEP
    return _ColumnWidths(max(1, min(label, room - bar)), bar, change, blocks)
