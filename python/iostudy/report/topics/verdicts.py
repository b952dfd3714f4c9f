"""Verdicts of a study by workload, figure and configuration, and plots of their intervals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import FiniteFloat

from iostudy.analysis.series import Flag
from iostudy.analysis.slow_runs import SlowRuns
from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Interval, Known, Span, UnderConfiguration, Value, finite
from iostudy.report.drawing import (
    GLYPHS,
    INK,
    VERDICT_MARKS,
    Spec,
    compute_row_pixels,
    encode_labels,
    field,
    layer,
    make_chart,
    make_label_axis,
)
from iostudy.report.formatting import (
    find_baseline_label,
    format_against,
    format_blocks_needed,
    format_change_interval,
    format_figure,
    name_configuration,
)
from iostudy.report.section import Chart, TextTable, make_table
from iostudy.results.comparisons import ComparisonResult, Run, decision_rule, select_figures
from iostudy.results.recommendation import is_met_guard
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.units import LARGEST_CHANGE, LARGEST_RATIO, format_percent, format_tenths, is_ratio
from iostudy.workloads.definition import Figure

if TYPE_CHECKING:
    from iostudy.report.values import GuardReport, Report, WorkloadReport


class SlowNoiseReport(Value):
    """How strongly a configuration feels the slow noise of the machine; 1 is as the baseline."""

    ratio: FiniteFloat | None
    """Ratio to the baseline; null if the baseline seems to feel none."""
    low: FiniteFloat
    """Lower end of its 95 % interval."""
    high: FiniteFloat | None
    """Upper end; null if the baseline may feel none."""

    @property
    def is_unequal(self) -> bool:
        """Whether the interval shows that it feels more or less of it than the baseline."""
        return self.low > 1 or (self.high is not None and self.high < 1)


class Result(UnderConfiguration):
    """Comparison of a configuration with the baseline on one workload.

    The baseline itself has a mean and no comparison.
    """

    baseline: bool
    """Whether it is the baseline."""
    bound: bool = False
    """Whether it is a bound: it shows what is possible, and cannot be recommended."""
    blocks: int
    """Number of counted blocks shared with the baseline; for the baseline all of its own."""
    value: Known
    """Geometric mean over those blocks without failed runs, in the figure's unit; null if
    unknown."""
    simulator_error: str = ""
    """Largest error of the simulator's throughput under this configuration, in words; empty for a
    measured figure."""
    change: Known = None
    """Change of the figure of a typical run against the baseline, as a fraction; null if
    unknown."""
    interval: Interval = None
    """Repeated confidence interval of the change, as fractions; null if unknown."""
    verdict: Verdict | None = None
    """Verdict by the interval and the margin; null for the baseline."""
    by_margin: bool = False
    """Whether the whole interval lies beyond the margin."""
    fragile: bool = False
    """Whether Student's t gives another verdict."""
    futile: bool = False
    """Whether the comparison ended early without a verdict: further blocks had little chance of
    one."""
    blocks_needed: int | None = None
    """Estimated blocks in all for a final verdict of a comparison without one; null otherwise."""
    slow: SlowRuns | None = None
    """Slow and failed runs over those blocks, and over the lost ones; null if unknown."""
    lost_blocks: int = 0
    """Number of blocks that this comparison cannot use, because both runs failed."""
    not_worse: bool = False
    """Whether it is shown not to be worse by the margin, at the level of the study's goal."""
    guarded: bool = False
    """Whether it has shown all that the goal wants of it: not to be worse by the margin."""
    slow_noise: SlowNoiseReport | None = None
    """How strongly it feels slow noise; null for few blocks, and without such noise."""
    flags: tuple[Flag, ...] = ()
    """Violated assumptions of the verdict, found in the paired log-ratios."""

    @property
    def is_open(self) -> bool:
        """Whether the comparison has no verdict; meaningless for the baseline."""
        return self.verdict in (None, Verdict.INCONCLUSIVE)

    @property
    def is_apart(self) -> bool:
        """Whether a difference is shown: without a verdict it lacks blocks or orders alone."""
        return self.interval is not None and (self.interval.low > 0 or self.interval.high < 0)

    def has_ended(self, max_blocks: int) -> bool:
        """Return whether no further block can change it."""
        decided = self.verdict is not None and self.verdict.is_final
        used = self.blocks + self.lost_blocks
        return decided or self.futile or self.guarded or used >= max_blocks


@dataclass(frozen=True)
class FigureVerdicts:
    """Verdicts by one figure of a workload: the baseline, then the other configurations.

    ``name`` distinguishes it from all others of the study. ``is_guard``: the figure does not
    decide, but a recommendation must not make it worse.
    """

    name: str
    workload: str
    figure: Figure
    results: Sequence[Result]
    is_guard: bool = False

    @property
    def choices(self) -> tuple[Result, ...]:
        """The results of all configurations but the baseline, without bounds."""
        return tuple(result for result in self.results[1:] if not result.bound)


def build_results(
    study: Study, figure: Figure, compared: Sequence[ComparisonResult], alone: Mapping[int, Run]
) -> tuple[Result, ...]:
    """Build the results by one figure of a workload, the baseline first.

    The baseline runs in every block, so the longest comparison holds all of its values; ``alone``
    are its runs.
    """
    results = [result for result in compared if result.figure == figure]
    label = find_baseline_label(study)
    longest = max(results, key=lambda result: result.comparison.blocks, default=None)
    if longest is None:
        values = list(select_figures(alone, figure.name).values())
        mean = math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None
        return (Result(configuration=label, baseline=True, blocks=len(values), value=mean),)
    baseline = Result(
        configuration=label,
        baseline=True,
        blocks=longest.comparison.blocks,
        value=finite(longest.baseline_mean),
        slow=_add_lost(study, longest, longest.comparison.baseline_slow),
    )
    if find_mode(study).compares_levels:
        results.sort(key=lambda result: -abs(finite(result.comparison.estimate) or 0.0))
    others = (
        Result.copy_from(
            result.comparison,
            configuration=result.configuration,
            baseline=False,
            bound=result.bound,
            value=result.mean,
            slow=_add_lost(study, result, result.comparison.slow),
            lost_blocks=result.lost_blocks,
            interval=result.comparison.change_interval,
            not_worse=result.meets_guard,
            guarded=is_met_guard(study, result),
        )
        for result in results
    )
    return (baseline, *others)


def _add_lost(study: Study, result: ComparisonResult, slow: SlowRuns | None) -> SlowRuns | None:
    """Add the runs of blocks in which both failed, of which a comparison knows nothing."""
    lost = result.lost_blocks
    return slow.add_failed(lost, decision_rule(study).risk) if slow and lost else slow


def list_verdicts(workloads: Sequence[WorkloadReport]) -> tuple[FigureVerdicts, ...]:
    """Return the verdicts by every figure, in the order of the study."""
    alone = len(workloads) == 1
    verdicts = []
    for workload in workloads:
        parts: tuple[WorkloadReport | GuardReport, ...] = (workload, *workload.guards)
        for part in parts:
            # The label of the workload names its verdicts if it has one figure.
            name = part.figure.name if alone else f"{part.figure.name} of {workload.label}"
            verdicts.append(
                FigureVerdicts(
                    name=name if workload.guards else workload.label,
                    workload=workload.label,
                    figure=part.figure,
                    results=part.results,
                    is_guard=part is not workload,
                )
            )
    return tuple(verdicts)


def format_value(result: Result) -> str:
    """Return the mean, in a simulated study with the simulator's error: ``360 (error to 4 %)``."""
    value = format_figure(result.value)
    return f"{value} ({result.simulator_error})" if result.simulator_error else value


def format_change(result: Result) -> str:
    """A change with its interval: ``-12.0 % [-15.0, -9.0]``."""
    return format_change_interval(result.change, result.interval)


def format_slow_runs(result: Result) -> str:
    """Return the slow runs with the bound of their share: ``0 of 30, at most 9.5 %``."""
    slow = result.slow
    if slow is None or not slow.runs:
        return ""
    return f"{slow.slow} of {slow.runs}, at most {format_percent(slow.at_most)}"


def format_change_size(result: Result) -> str:
    """Return a change without its direction, which the verb expresses: ``12.0 % [9.0, 15.0]``.

    Above 100 % it is the ratio to the baseline: ``30.0 x [25.1, 36.2]``. Failed runs leave no size.
    """
    if result.change is None or result.interval is None:
        return "runs failed"
    if is_ratio(result.change):
        return format_change(result)
    sign = 1 if result.change >= 0 else -1
    low, high = sorted(sign * end for end in (result.interval.low, result.interval.high))
    text = f">{LARGEST_CHANGE * 100:.0f}" if high >= LARGEST_CHANGE else format_tenths(high * 100)
    return f"{format_tenths(abs(result.change) * 100)} % [{format_tenths(low * 100)}, {text}]"


def format_verdict(result: Result, by_margin: str = "by at least the margin") -> str:
    """The verdict in words; the baseline has none."""
    if result.baseline:
        return "baseline"
    if result.verdict is None or not result.blocks:
        return "no data"
    words = result.verdict.value
    if result.verdict in (Verdict.BETTER, Verdict.WORSE) and result.by_margin:
        words += f" {by_margin}"
    marks = [mark for mark, has_mark, _ in _MARKS if has_mark(result)]
    return f"{words} ({', '.join(marks)})" if marks else words


_MARKS: tuple[tuple[str, Callable[[Result], bool], str], ...] = (
    ("a bound", lambda result: result.bound, "it shows what is possible, and is no candidate"),
    ("fragile", lambda result: result.fragile, "Student's t has another verdict"),
    ("futile", lambda result: result.futile, "ended early, with little chance of a verdict"),
    ("flagged", lambda result: bool(result.flags), "an assumption does not hold (Caveats)"),
)
"""Marks of a verdict, when it has them, and their meaning."""


def explain_marks(tables: Sequence[FigureVerdicts]) -> str:
    """Explain the marks that verdicts and blocks of a study have; empty without marks."""
    results = [result for table in tables for result in table.results]
    texts = [
        f"{mark[0].upper()}{mark[1:]}: {meaning}."
        for mark, has_mark, meaning in _MARKS
        if any(has_mark(result) for result in results)
    ]
    for result in [result for result in results if result.blocks_needed is not None][:1]:
        needed = format_blocks_needed(result.blocks_needed or 0, more="more than ")
        about = f"{result.blocks} run, and {needed} needed for a final verdict"
        texts.append(f"Blocks: {format_blocks(result)} means {about}.")
    return " ".join(texts)


def choose_verdict_symbol(verdict: Verdict | None) -> str:
    """Return the verdict's symbol, the same as in the charts."""
    return "" if verdict is None else GLYPHS[VERDICT_MARKS[verdict][1]]


def format_blocks(result: Result) -> str:
    """Blocks done, and how many an open comparison would take: ``20 of ≈55``."""
    if result.blocks_needed is not None:
        return f"{result.blocks} of {format_blocks_needed(result.blocks_needed, '≈')}"
    return str(result.blocks)


def build_verdict_table(verdicts: FigureVerdicts, noun: str) -> TextTable:
    """Configuration, verdict, figure, change with its interval, blocks and slow runs."""
    figure, better = verdicts.figure, "higher" if verdicts.figure.higher_is_better else "lower"
    against = format_against(verdicts.results[0].configuration)

    def build_row(result: Result) -> list[tuple[str, str]]:
        symbol = choose_verdict_symbol(result.verdict)
        return [
            (noun, result.configuration),
            ("verdict", f"{symbol} {format_verdict(result)}".strip()),
            (figure.unit, format_value(result)),
            (against, "" if result.baseline else format_change(result)),
            ("blocks", format_blocks(result)),
            ("slow runs", format_slow_runs(result)),
        ]

    title = f"{verdicts.workload}: {figure.name}, {better} is better"
    return make_table(map(build_row, verdicts.results), title, names=2)


_MOST_TICKS = 6
_SMALL = math.log(2.5)
"""Length of a logarithmic axis up to which equal steps in percent are readable."""
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
"""Steps between ticks, as fractions."""
_RATIOS = (*(digit * 10.0**power for power in range(-4, 3) for digit in (1, 2, 5)), 1000.0)
_LABEL = 6.0
"""Half of a label on a narrow screen, in percent of the axis."""
_PADDING = 0.07
"""Space at both ends, as a share of the axis."""


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
class ChangeAxis:
    """A logarithmic axis of ratios, from ``low`` to ``high`` as log-ratios, and its margin."""

    low: float
    high: float
    margin: float

    def place(self, log_ratio: float) -> float:
        """Return the position in percent, within the axis."""
        share = (log_ratio - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 2)

    @property
    def zone(self) -> tuple[float, float]:
        """The ends of the zone within the margin."""
        return self.place(-math.log1p(self.margin)), self.place(math.log1p(self.margin))

    def list_ticks(self) -> Iterator[tuple[float, str]]:
        """Yield position and label of zero, and of ticks with labels that fit within the axis.

        They are steps in percent on short axes, else ratios.
        """
        if self.high - self.low <= _SMALL:
            low, high = math.expm1(self.low), math.expm1(self.high)
            step = next(length for length in _STEPS if (high - low) / length < _MOST_TICKS)
            numbers = range(math.ceil(low / step), math.floor(high / step) + 1)
            ticks = [(1 + number * step, _percent(number * step)) for number in numbers]
        else:
            within = [ratio for ratio in _RATIOS if self.low <= math.log(ratio) <= self.high]
            if len(within) > _MOST_TICKS:
                within = [ratio for ratio in within if math.log10(ratio).is_integer()]
            ticks = [(r, f"{r:g} x" if r > 1 else _percent(r - 1)) for r in within]
        for ratio, label in ticks:
            position = self.place(math.log(ratio))
            if ratio == 1 or _LABEL <= position <= 100 - _LABEL:
                yield position, label

    def build_row(self, result: Result) -> ForestRow:
        """Return the comparison with its positions on the axis."""
        span, change = result.interval, result.change
        if span is None or change is None:
            return ForestRow(result, None, None, None)
        low, high, point = _log(span.low), _log(span.high), _log(change)
        return ForestRow(
            result,
            low=self.place(low),
            high=self.place(high),
            point=self.place(point) if self.low <= point <= self.high else None,
            low_cut=low < self.low,
            high_cut=high > self.high or span.high >= LARGEST_RATIO,
        )


def build_axis(results: Sequence[Result], margin: float) -> ChangeAxis | None:
    """Return an axis of all informative intervals and twice the margin; None without intervals.

    An interval that contains zero and exceeds 100 % is cut, because it would compress all others.
    """
    spans = [result.interval for result in results if result.interval is not None]
    if not spans:
        return None
    informative = [span for span in spans if span.high <= 1 or span.low > 0]
    shown = informative or [Span(low=-0.5, high=1.0)]
    least = 2 * math.log1p(margin)
    low = min(-least, *(_log(span.low) for span in shown))
    high = max(least, *(_log(span.high) for span in shown))
    padding = _PADDING * (high - low)
    return ChangeAxis(low - padding, high + padding, margin)


def _log(change: float) -> float:
    """Return the log ratio of a change, between those of 0.0001 and 1000."""
    return math.log(min(max(1 + change, 1e-4), LARGEST_RATIO))


def _percent(fraction: float) -> str:
    return "0" if abs(fraction) < 1e-9 else f"{100 * fraction:+.4g} %"


_ROW_PIXELS = 34


def build_interval_chart(workload: WorkloadReport, report: Report) -> Chart | None:
    """Changes against the baseline; None while no comparison has an interval."""
    results = [result for result in workload.results if not result.baseline]
    title = [f"change of {workload.figure.name}", format_against(report.baseline)]
    spec = draw_intervals(results, report.method.margin, title, report.noun)
    if spec is None:
        return None
    baseline = name_configuration(report.baseline, report.factor)
    return Chart(
        spec,
        describe_results(results),
        "Point: change. Bar: its interval; arrow: the interval extends beyond the axis. "
        f"Shaded: within the margin of {format_percent(report.method.margin)} of {baseline}.",
    )


def draw_intervals(
    results: Sequence[Result], margin: float, title: Sequence[str], noun: str
) -> Spec | None:
    """Draw each change with its interval, and the zone within the margin shaded.

    Every result keeps its row: what reaches beyond the axis ends in an arrow. ``noun`` is what the
    rows are. None while no result has an interval.
    """
    axis = build_axis(results, margin)
    if axis is None:
        return None
    rows = [
        {
            "configuration": row.result.configuration,
            "change": row.point,
            "low": row.low,
            "high": row.high,
            "low_cut": row.low_cut,
            "high_cut": row.high_cut,
            "verdict": row.result.verdict and row.result.verdict.value,
            "change_text": format_change(row.result),
            "blocks": format_blocks(row.result),
        }
        for row in map(axis.build_row, results)
    ]
    ticks = {f"{position:g}": label for position, label in axis.list_ticks()}
    zone = [dict(zip(("low", "high"), axis.zone, strict=True))]
    labels = [result.configuration for result in results]
    names, rows_scale = make_label_axis(labels), {"domain": labels}
    y = field("configuration:N", sort=None, title=None, axis=names, scale=rows_scale)
    marks = {"values": list(map(float, ticks)), "labelExpr": f"{json.dumps(ticks)}[datum.value]"}
    x = field("low:Q", title=title, axis=marks, scale={"domain": [0, 100], "nice": False})
    verdicts = [verdict.value for verdict in VERDICT_MARKS]
    colours, shapes = zip(*VERDICT_MARKS.values(), strict=True)
    colour, shape = encode_labels(verdicts, colours, shapes, name="verdict")
    tooltip = [
        field("configuration:N", title=noun),
        field("change_text:N", title="change"),
        field("verdict:N"),
        field("blocks:N"),
    ]
    base: Spec = {"y": y, "color": colour, "tooltip": tooltip}
    zero = {"x": {"datum": axis.place(0.0)}}
    layers = [
        layer(zone, "rect", {"x": "low:Q", "x2": "high"}, fill=INK, opacity=0.1),
        layer(zone, "rule", zero, color=INK, strokeWidth=1),
        layer(rows, "rule", base | {"x": x, "x2": "high"}, strokeWidth=2.5),
    ]
    # A bar is at each end of an interval, or an arrow beyond the axis.
    for end, arrow in (("low", "triangle-left"), ("high", "triangle-right")):
        whole, cut = (
            [row for row in rows if row[end] is not None and row[f"{end}_cut"] is is_cut]
            for is_cut in (False, True)
        )
        ending = base | {"x": f"{end}:Q"}
        layers += [
            layer(whole, "tick", ending, thickness=2.5, size=11),
            layer(cut, "point", ending, shape=arrow, filled=True, size=110, opacity=1),
        ]
    change = base | {"x": "change:Q", "shape": shape}
    layers.append(layer(rows, "point", change, filled=True, size=130, opacity=1))
    return make_chart(layers, height=compute_row_pixels(labels, _ROW_PIXELS) * len(rows))


def describe_results(results: Sequence[Result]) -> str:
    """The results in words, for those who cannot see the chart."""
    texts = (f"{r.configuration} {format_change(r)}, {format_verdict(r)}" for r in results)
    return "; ".join(texts)
