"""Formatting of numbers, changes, intervals and lists in reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import assert_never

from pydantic import JsonValue

from iostudy.analysis.verdict import Verdict
from iostudy.ledger.abandoned_workloads import AbandonedWorkload
from iostudy.report.base import Span
from iostudy.report.topics.reference.values import PublishedFigureReport, ReferenceReport
from iostudy.report.topics.verdicts.values import Result, WorkloadReport
from iostudy.report.trials import TrialReport
from iostudy.units import format_rounded_size, format_significant

UNKNOWN = "–"
_BYTES = "_bytes"

LARGEST_CHANGE = 10.0
"""A change of 1000 %. Intervals of the first few blocks reach further; digits say nothing there."""
_WORTH_WAITING = 4
"""Times as many blocks; more of them are not the first thing to try."""

MOST_BLOCKS = 1000
"""Largest useful estimate of needed blocks; beyond it the estimate is a guess."""
_LONGEST_IN_HEAD = 12


def format_figure(value: float | None) -> str:
    """Three significant digits without an exponent: 1234.5 -> ``1230``, 5.1 -> ``5.10``."""
    return UNKNOWN if value is None else format_significant(value)


def format_signed_percent(fraction: float | None) -> str:
    """A change: -0.1204 -> ``-12.0 %``."""
    return UNKNOWN if fraction is None else f"{_signed(fraction)} %"


def format_interval(span: Span | None) -> str:
    """Its interval, in percent: ``[-15.0, -9.0]``."""
    if span is None:
        return UNKNOWN
    if span.low < 0 and span.high >= LARGEST_CHANGE:
        return "[too wide]"
    return f"[{_signed(span.low)}, {_signed(span.high)}]"


def format_against(baseline: str) -> str:
    """Return the head of a column of changes, with a long label shortened."""
    return f"against {baseline}" if len(baseline) <= _LONGEST_IN_HEAD else "against baseline"


def format_change(result: Result) -> str:
    """A change with its interval: ``-12.0 % [-15.0, -9.0]``."""
    return format_change_interval(result.change, result.interval)


def format_change_interval(change: float | None, interval: Span | None) -> str:
    """A change with an interval, as fractions, in percent."""
    return (
        UNKNOWN
        if change is None
        else f"{format_signed_percent(change)} {format_interval(interval)}"
    )


def format_published_name(published: PublishedFigureReport) -> str:
    """Return the name of the figure: ``throughput of dfsio-write``."""
    return f"{published.figure} of {published.workload}"


def format_published_value(published: PublishedFigureReport) -> str:
    """Return the published digits and unit: ``0.85347 MB/s``."""
    return f"{published.value:g} {published.unit}"


def format_published_change(published: PublishedFigureReport) -> str:
    """A published change with the runs it is of: ``+8.0 % (1 run)``; none for the baseline."""
    if published.baseline:
        return ""
    return f"{format_signed_percent(published.change)} ({format_count(published.runs, 'run')})"


def format_own_value(published: PublishedFigureReport) -> str:
    """The user's own figure: ``512 MiB/s``; ``512 MiB/s (none)`` where that is called otherwise."""
    own = published.own
    if own is None:
        return UNKNOWN
    called = "" if own.configuration == published.configuration else f" ({own.configuration})"
    return f"{format_figure(own.value)} {own.unit}{called}"


def format_own_change(published: PublishedFigureReport) -> str:
    """The user's own change with its interval; none for the baseline."""
    if published.baseline:
        return ""
    own = published.own
    return UNKNOWN if own is None else format_change_interval(own.change, own.interval)


def introduce_reference(reference: ReferenceReport) -> str:
    """Describe the content and the limits of the table of published figures."""
    return (
        f"{reference.title} ({reference.kind}, {reference.source}). Changes are against "
        f"{reference.baseline}; own changes have the interval of a verdict. "
        "Figures of another machine: not used for verdicts."
    )


def explain_missing_figures(reference: ReferenceReport) -> str:
    """Why no table of published figures is shown."""
    labels, workloads = (
        join_words(list(dict.fromkeys(names)))
        for names in zip(*((p.configuration, p.workload) for p in reference.figures), strict=True)
    )
    return (
        f"{reference.title} ({reference.kind}, {reference.source}) has figures of {labels} on "
        f"{workloads}. This study has no finished block of these, so there is nothing to "
        "compare."
    )


def describe_bounds(bounds: Sequence[str]) -> Iterator[str]:
    """Explain the mark of bounds at verdicts; None without bounds."""
    if bounds:
        text = "; ".join(bounds)
        yield f"bounds (limits of what is possible, neither ranked nor recommended): {text}"


def format_change_size(result: Result) -> str:
    """Return a change without its direction, which the verb expresses: ``12.0 % [9.0, 15.0]``."""
    assert result.change is not None
    assert result.interval is not None
    sign = 1 if result.change >= 0 else -1
    low, high = sorted(sign * end for end in (result.interval.low, result.interval.high))
    text = f">{LARGEST_CHANGE * 100:.0f}" if high >= LARGEST_CHANGE else _tenths(high * 100)
    return f"{_tenths(abs(result.change) * 100)} % [{_tenths(low * 100)}, {text}]"


def format_verdict(result: Result, by_margin: str = "by at least the margin") -> str:
    """The verdict in words; the baseline has none."""
    if result.baseline:
        return "baseline"
    if result.verdict is None or not result.blocks:
        return "no data"
    words = result.verdict.value
    if result.verdict in (Verdict.BETTER, Verdict.WORSE) and result.by_margin:
        words += f" {by_margin}"
    marks = [
        *(["a bound"] if result.bound else []),
        *(["fragile"] if result.fragile else []),
        *(["flagged"] if result.flags else []),
    ]
    return f"{words} ({', '.join(marks)})" if marks else words


def choose_verdict_symbol(result: Result) -> str:
    """Return the verdict's symbol, the same as in the charts."""
    match result.verdict:
        case Verdict.BETTER:
            return "▲"
        case Verdict.WORSE:
            return "▼"
        case Verdict.EQUIVALENT:
            return "●"
        case Verdict.INCONCLUSIVE:
            return "◆"
        case None:
            return ""
        case _:
            assert_never(result.verdict)


def format_blocks(result: Result) -> str:
    """Blocks done, and how many an open comparison would take: ``20 of ≈55``."""
    if result.verdict is Verdict.INCONCLUSIVE and result.blocks_needed is not None:
        return f"{result.blocks} of {format_blocks_needed(result.blocks_needed, '≈')}"
    return str(result.blocks)


def format_blocks_legend(results: Iterable[Result]) -> str:
    """Explain entries of ``format_blocks`` with an estimate; empty without any."""
    for result in results:
        if result.verdict is Verdict.INCONCLUSIVE and result.blocks_needed is not None:
            needed = format_blocks_needed(result.blocks_needed, more="more than ")
            return (
                f"blocks: {format_blocks(result)} means {result.blocks} run, and {needed} "
                "needed for a verdict"
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


def format_blocks_needed(number: int, about: str = "about ", more: str = ">") -> str:
    """Return the blocks that a decision probably needs: ``about 124``, ``>1000`` if impractical."""
    return f"{more}{MOST_BLOCKS}" if number > MOST_BLOCKS else f"{about}{number}"


def is_feasible_extension(needed: int, max_blocks: int) -> bool:
    """Whether a study of so many blocks is the first thing to try, after one of ``max_blocks``."""
    return needed <= _WORTH_WAITING * max_blocks


def describe_given_up(own: AbandonedWorkload) -> str:
    """The workload that a study gave up, why, and what to do."""
    instead = (
        "Without limits in `validity:`, a new study reports disturbances and discards no trial for "
        "them."
        if own.disturbed
        else "Fix the cause; --resume tries it again."
    )
    return (
        f"{own.workload} was given up in block {own.block}: none of {own.attempts} attempts "
        f"was valid. The last: {own.reason}. {instead}"
    )


def describe_trial(trial: TrialReport) -> str:
    """Describe why a trial does not count or is an outlier; empty otherwise."""
    if trial.outlier:
        return "outlier; counted"
    if trial.counts:
        return ""
    return trial.reason or "incomplete block"


def join_words(items: Sequence[str], word: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, last = items
    return f"{', '.join(most)} {word} {last}" if most else last


def format_count(number: int, noun: str) -> str:
    """``1 block``, ``5 blocks``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_fact_name(name: str, value: JsonValue) -> str:
    """The name of a circumstance: ``memory_bytes`` -> ``memory`` where its text has the unit."""
    return (name.removesuffix(_BYTES) if isinstance(value, int) else name).replace("_", " ")


def format_fact(value: JsonValue, name: str) -> str:
    """A circumstance that is no mapping, as text."""
    if isinstance(value, list):
        return ", ".join(format_fact(item, name) for item in value) or UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name.endswith(_BYTES):
        return format_rounded_size(value)
    return UNKNOWN if value is None or value == "" else str(value)


def format_time(unix_seconds: float) -> str:
    """A time in UTC, to the second."""
    return datetime.fromtimestamp(unix_seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _signed(fraction: float) -> str:
    if fraction >= LARGEST_CHANGE:
        return f">+{LARGEST_CHANGE * 100:.0f}"
    return _tenths(fraction * 100, sign="+")


def _tenths(percent: float, sign: str = "-") -> str:
    """Round to one decimal; near zero to two, because a decision depends on the sign of an end."""
    if 0 < abs(percent) < 0.05:
        return f"{percent:{sign}.2f}"
    return f"{percent + 0.0:{sign}.1f}"
