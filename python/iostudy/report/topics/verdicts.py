"""Verdicts of a study by workload, figure and configuration."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import FiniteFloat

from iostudy.analysis.series import Flag
from iostudy.analysis.slow_runs import SlowRuns
from iostudy.analysis.verdict import Verdict
from iostudy.report.base import Interval, Known, UnderConfiguration, Value, finite
from iostudy.report.drawing import GLYPHS, VERDICT_MARKS
from iostudy.report.formatting import (
    find_baseline_label,
    format_against,
    format_blocks_needed,
    format_change_interval,
    format_figure,
)
from iostudy.report.section import TextTable, make_table
from iostudy.results.comparisons import ComparisonResult, Run, decision_rule, select_figures
from iostudy.results.recommendation import is_met_guard
from iostudy.study.mode import find_mode
from iostudy.study.model import Study
from iostudy.units import LARGEST_CHANGE, format_percent, format_tenths, is_ratio
from iostudy.workloads.definition import Figure

if TYPE_CHECKING:
    from iostudy.report.values import GuardReport, WorkloadReport


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
