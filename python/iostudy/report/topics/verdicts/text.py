"""Changes, verdicts and blocks of results as texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import assert_never

from iostudy.analysis.verdict import Verdict
from iostudy.report.formatting import (
    format_blocks_needed,
    format_change_interval,
    format_figure,
)
from iostudy.report.topics.verdicts.values import Result
from iostudy.report.values import WorkloadReport
from iostudy.results.change_text import LARGEST_CHANGE, format_tenths, is_ratio
from iostudy.units import format_percent


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

    Above 100 % it is the ratio to the baseline: ``30.0 x [25.1, 36.2]``.
    """
    assert result.change is not None
    assert result.interval is not None
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


def explain_marks(results: Iterable[Result]) -> str:
    """Explain the marks that these verdicts have; empty without marks."""
    known = list(results)
    return " ".join(
        f"{mark[0].upper()}{mark[1:]}: {meaning}."
        for mark, has_mark, meaning in _MARKS
        if any(has_mark(result) for result in known)
    )


def choose_verdict_symbol(verdict: Verdict | None) -> str:
    """Return the verdict's symbol, the same as in the charts."""
    match verdict:
        case Verdict.BETTER:
            return "▲"
        case Verdict.WORSE:
            return "▼"
        case Verdict.EQUIVALENT:
            return "●"
        case Verdict.NOT_WORSE:
            return "▶"
        case Verdict.NOT_BETTER:
            return "◀"
        case Verdict.INCONCLUSIVE:
            return "◆"
        case None:
            return ""
        case _:
            assert_never(verdict)


def format_blocks(result: Result) -> str:
    """Blocks done, and how many an open comparison would take: ``20 of ≈55``."""
    if result.blocks_needed is not None:
        return f"{result.blocks} of {format_blocks_needed(result.blocks_needed, '≈')}"
    return str(result.blocks)


def format_blocks_legend(results: Iterable[Result]) -> str:
    """Explain entries of ``format_blocks`` with an estimate; empty without any."""
    for result in results:
        if result.blocks_needed is not None:
            needed = format_blocks_needed(result.blocks_needed, more="more than ")
            return (
                f"blocks: {format_blocks(result)} means {result.blocks} run, and {needed} "
                "needed for a final verdict"
            )
    return ""


def format_first_blocks_legend(
    workload: WorkloadReport, workloads: Iterable[WorkloadReport]
) -> str:
    """The legend, under the first of the tables that has such an entry."""
    first = next(
        (
            workload_report
            for workload_report in workloads
            if format_blocks_legend(workload_report.results)
        ),
        None,
    )
    return format_blocks_legend(workload.results) if workload is first else ""
