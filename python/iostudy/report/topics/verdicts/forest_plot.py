"""Forest plot of all comparisons of a study (pure): rows, axis and positions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from iostudy.report.base import Span
from iostudy.report.topics.verdicts.figure_verdicts import FigureVerdicts, list_verdicts
from iostudy.report.topics.verdicts.values import Result
from iostudy.report.values import Report
from iostudy.results.change_text import LARGEST_RATIO

_MOST_TICKS = 6
_SMALL = math.log(2.5)
"""Length of a logarithmic axis up to which equal steps in percent are readable."""
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
"""Steps between ticks, as fractions."""
_RATIOS = tuple(
    sorted(
        digit * 10.0**power
        for power in range(-4, 4)
        for digit in (1.0, 2.0, 5.0)
        if digit * 10.0**power <= 1000
    )
)
_LABEL = 6.0
"""Half of a label on a narrow screen, in percent of the axis."""
_PADDING = 0.07
"""Space at both ends, as a share of the axis."""


@dataclass(frozen=True)
class Tick:
    """A tick: its position in percent of the axis, and its label."""

    position: float
    label: str


@dataclass(frozen=True)
class ForestRow:
    """One comparison; positions are in percent of the axis, None without an interval.

    ``low_cut`` and ``high_cut`` mark an interval that extends beyond the axis.
    """

    result: Result
    low: float | None
    high: float | None
    point: float | None
    low_cut: bool = False
    high_cut: bool = False


@dataclass(frozen=True)
class ForestGroup:
    """The comparisons by one figure of a workload."""

    verdicts: FigureVerdicts
    rows: tuple[ForestRow, ...]


@dataclass(frozen=True)
class ForestPlot:
    """All comparisons on one logarithmic axis, with the zone within the margin."""

    ticks: tuple[Tick, ...]
    zero: float
    zone: tuple[float, float]
    groups: tuple[ForestGroup, ...]


def build_forest_plot(report: Report) -> ForestPlot | None:
    """Return the plot of every comparison; None while no comparison has an interval."""
    verdicts = list_verdicts(report.workloads)
    results = [r for each in verdicts for r in each.results if not r.baseline]
    spans = [result.interval for result in results if result.interval is not None]
    if not spans:
        return None
    margin = report.method.margin
    axis = _Axis(*_reach(spans, margin))
    return ForestPlot(
        ticks=tuple(_labelled(axis)),
        zero=axis.place(0.0),
        zone=(axis.place(-math.log1p(margin)), axis.place(math.log1p(margin))),
        groups=tuple(
            ForestGroup(each, tuple(_row(r, axis) for r in each.results if not r.baseline))
            for each in verdicts
        ),
    )


@dataclass(frozen=True)
class _Axis:
    """An axis of log ratios from ``low`` to ``high``."""

    low: float
    high: float

    def place(self, log_ratio: float) -> float:
        """Return the position in percent, within the axis."""
        share = (log_ratio - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 2)


def _reach(spans: Sequence[Span], margin: float) -> tuple[float, float]:
    """Return both ends of the axis as log ratios: all informative intervals, twice the margin.

    An interval that contains zero and exceeds 100 % is cut, because it would compress all others.
    """
    informative = [span for span in spans if span.high <= 1 or span.low > 0]
    shown = informative or [Span(low=-0.5, high=1.0)]
    least = 2 * math.log1p(margin)
    low = min(-least, *(_log(span.low) for span in shown))
    high = max(least, *(_log(span.high) for span in shown))
    padding = _PADDING * (high - low)
    return low - padding, high + padding


def _log(change: float) -> float:
    """Return the log ratio of a change, between those of 0.0001 and 1000."""
    return math.log(min(max(1 + change, 1e-4), LARGEST_RATIO))


def _labelled(axis: _Axis) -> Iterator[Tick]:
    """Yield zero and the ticks whose labels do not extend beyond the axis."""
    for ratio, label in _ticks(axis):
        position = axis.place(math.log(ratio))
        if ratio == 1 or _LABEL <= position <= 100 - _LABEL:
            yield Tick(position, label)


def _ticks(axis: _Axis) -> Iterator[tuple[float, str]]:
    """Yield ratio and label of each tick: steps in percent on short axes, else ratios."""
    if axis.high - axis.low <= _SMALL:
        low, high = math.expm1(axis.low), math.expm1(axis.high)
        step = next(each for each in _STEPS if (high - low) / each < _MOST_TICKS)
        for number in range(math.ceil(low / step), math.floor(high / step) + 1):
            yield 1 + number * step, _percent(number * step)
        return
    within = [ratio for ratio in _RATIOS if axis.low <= math.log(ratio) <= axis.high]
    if len(within) > _MOST_TICKS:
        within = [ratio for ratio in within if math.log10(ratio).is_integer()]
    for ratio in within:
        yield ratio, f"{ratio:g} x" if ratio > 1 else _percent(ratio - 1)


def _percent(fraction: float) -> str:
    return "0" if abs(fraction) < 1e-9 else f"{100 * fraction:+.4g} %"


def _row(result: Result, axis: _Axis) -> ForestRow:
    span, change = result.interval, result.change
    if span is None or change is None:
        return ForestRow(result, None, None, None)
    low, high, point = _log(span.low), _log(span.high), _log(change)
    return ForestRow(
        result,
        low=axis.place(low),
        high=axis.place(high),
        point=axis.place(point) if axis.low <= point <= axis.high else None,
        low_cut=low < axis.low,
        high_cut=high > axis.high or span.high >= LARGEST_RATIO,
    )
