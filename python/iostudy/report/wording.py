"""Numbers and lists as people read them: percent to one decimal, figures to three digits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import assert_never

from pydantic import JsonValue

from iostudy.analysis.verdict import Verdict
from iostudy.ledger.given_up import GivenUp
from iostudy.report.values.base import Span
from iostudy.report.values.reference import PublishedTold, ReferenceTold
from iostudy.report.values.results import Result, WorkloadTold
from iostudy.report.values.trials import TrialTold
from iostudy.units import format_rounded_size, format_significant

UNKNOWN = "–"
_BYTES = "_bytes"

BEYOND_TELLING = 10.0
"""A change of 1000 %. Intervals of the first few blocks reach further; digits say nothing there."""
_WORTH_WAITING = 4
"""Times as many blocks; more of them are not the first thing to try."""

MOST_BLOCKS = 1000
"""More than these nobody will run, and the estimate of how many more is a guess."""
_LONGEST_IN_HEAD = 12


def significant(value: float | None) -> str:
    """Three significant digits without an exponent: 1234.5 -> ``1230``, 5.1 -> ``5.10``."""
    return UNKNOWN if value is None else format_significant(value)


def signed_percent(fraction: float | None) -> str:
    """A change: -0.1204 -> ``-12.0 %``."""
    return UNKNOWN if fraction is None else f"{_signed(fraction)} %"


def signed_span(span: Span | None) -> str:
    """Its interval, in percent: ``[-15.0, -9.0]``."""
    if span is None:
        return UNKNOWN
    if span.low < 0 and span.high >= BEYOND_TELLING:
        return "[too wide to tell]"
    return f"[{_signed(span.low)}, {_signed(span.high)}]"


def against(baseline: str) -> str:
    """The head of a column of changes; a long label would take the room of what stands below."""
    return f"against {baseline}" if len(baseline) <= _LONGEST_IN_HEAD else "against baseline"


def change(result: Result) -> str:
    """A change with its interval: ``-12.0 % [-15.0, -9.0]``."""
    return change_within(result.change, result.interval)


def change_within(change: float | None, interval: Span | None) -> str:
    """A change with an interval, as fractions, in percent."""
    return UNKNOWN if change is None else f"{signed_percent(change)} {signed_span(interval)}"


def published_name(published: PublishedTold) -> str:
    """Which figure it is: ``throughput of dfsio-write``."""
    return f"{published.figure} of {published.workload}"


def published_value(published: PublishedTold) -> str:
    """With the digits and the unit that it was published with: ``0.85347 MB/s``."""
    return f"{published.value:g} {published.unit}"


def published_change(published: PublishedTold) -> str:
    """A published change with the runs it is of: ``+8.0 % (1 run)``; none for the baseline."""
    if published.baseline:
        return ""
    return f"{signed_percent(published.change)} ({counted(published.runs, 'run')})"


def own_value(published: PublishedTold) -> str:
    """The user's own figure: ``512 MiB/s``; ``512 MiB/s (none)`` where that is called otherwise."""
    own = published.own
    if own is None:
        return UNKNOWN
    called = "" if own.configuration == published.configuration else f" ({own.configuration})"
    return f"{significant(own.value)} {own.unit}{called}"


def own_change(published: PublishedTold) -> str:
    """The user's own change with its interval; none for the baseline."""
    if published.baseline:
        return ""
    own = published.own
    return UNKNOWN if own is None else change_within(own.change, own.interval)


def reference_intro(reference: ReferenceTold) -> str:
    """What the table of published figures shows, and what it does not."""
    return (
        f"{reference.title} ({reference.kind}, {reference.source}). Changes are against "
        f"{reference.baseline}; own ones with the interval that a verdict would rest on. "
        "Another machine's figures: no verdict rests on them."
    )


def reference_alone(reference: ReferenceTold) -> str:
    """Why no table of published figures is shown."""
    labels, workloads = (
        joined(list(dict.fromkeys(names)))
        for names in zip(*((p.configuration, p.workload) for p in reference.figures), strict=True)
    )
    return (
        f"{reference.title} ({reference.kind}, {reference.source}) has figures of {labels} on "
        f"{workloads}. No finished block of this study is of those, so no own figure stands beside "
        "them."
    )


def of_bounds(bounds: Sequence[str]) -> Iterator[str]:
    """A note that explains the mark beside verdicts; none without bounds."""
    if bounds:
        told = "; ".join(bounds)
        yield f"bounds, which show what is possible, and are neither ranked nor proposed: {told}"


def size_of_change(result: Result) -> str:
    """A change without its direction, which the verb tells: ``12.0 % [9.0, 15.0]``."""
    assert result.change is not None
    assert result.interval is not None
    sign = 1 if result.change >= 0 else -1
    low, high = sorted(sign * end for end in (result.interval.low, result.interval.high))
    told = f">{BEYOND_TELLING * 100:.0f}" if high >= BEYOND_TELLING else _tenths(high * 100)
    return f"{_tenths(abs(result.change) * 100)} % [{_tenths(low * 100)}, {told}]"


def verdict(result: Result, by_margin: str = "by at least the margin") -> str:
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


def verdict_symbol(result: Result) -> str:
    """A shape beside the word, the same as in the charts."""
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


def blocks(result: Result) -> str:
    """Blocks done, and how many an open comparison would take: ``20 of ≈55``."""
    if result.verdict is Verdict.INCONCLUSIVE and result.blocks_needed is not None:
        return f"{result.blocks} of {blocks_needed(result.blocks_needed, '≈')}"
    return str(result.blocks)


def blocks_legend(results: Iterable[Result]) -> str:
    """What an entry of ``blocks`` means that tells of more to come; empty if none does."""
    for result in results:
        if result.verdict is Verdict.INCONCLUSIVE and result.blocks_needed is not None:
            needed = blocks_needed(result.blocks_needed, more="more than ")
            return (
                f"blocks: {blocks(result)} means {result.blocks} run, and {needed} in all would "
                "probably decide"
            )
    return ""


def first_blocks_legend(workload: WorkloadTold, workloads: Iterable[WorkloadTold]) -> str:
    """The legend, under the first of the tables that has such an entry."""
    first = next((told for told in workloads if blocks_legend(told.results)), None)
    return blocks_legend(workload.results) if workload is first else ""


def blocks_needed(number: int, about: str = "about ", more: str = ">") -> str:
    """How many blocks would probably decide: ``about 124``, ``>1000`` where it is beyond doing."""
    return f"{more}{MOST_BLOCKS}" if number > MOST_BLOCKS else f"{about}{number}"


def is_worth_waiting(needed: int, max_blocks: int) -> bool:
    """Whether a study of so many blocks is the first thing to try, after one of ``max_blocks``."""
    return needed <= _WORTH_WAITING * max_blocks


def given_up(own: GivenUp) -> str:
    """The workload that a study gave up, why, and what to do."""
    instead = (
        "Without limits in `validity:`, a new study reports disturbances and discards no trial for "
        "them."
        if own.disturbed
        else "Correct the cause; --resume tries it again."
    )
    return (
        f"{own.workload} was given up in block {own.block}: none of {own.attempts} attempts "
        f"counts. The last: {own.reason}. {instead}"
    )


def remark(trial: TrialTold) -> str:
    """Why a trial does not count, or that it stands apart; empty where there is nothing to say."""
    if trial.outlier:
        return "outlying; stays in"
    if trial.counts:
        return ""
    return trial.reason or "its block was not completed"


def joined(items: Sequence[str], word: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *most, last = items
    return f"{', '.join(most)} {word} {last}" if most else last


def counted(number: int, noun: str) -> str:
    """``1 block``, ``5 blocks``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def fact_name(name: str, value: JsonValue) -> str:
    """The name of a circumstance: ``memory_bytes`` -> ``memory`` where its text has the unit."""
    return (name.removesuffix(_BYTES) if isinstance(value, int) else name).replace("_", " ")


def fact_text(value: JsonValue, name: str) -> str:
    """A circumstance that is no mapping, as text."""
    if isinstance(value, list):
        return ", ".join(fact_text(item, name) for item in value) or UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name.endswith(_BYTES):
        return format_rounded_size(value)
    return UNKNOWN if value is None or value == "" else str(value)


def moment(unix_seconds: float) -> str:
    """A time in UTC, to the second."""
    return datetime.fromtimestamp(unix_seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _signed(fraction: float) -> str:
    if fraction >= BEYOND_TELLING:
        return f">+{BEYOND_TELLING * 100:.0f}"
    return _tenths(fraction * 100, sign="+")


def _tenths(percent: float, sign: str = "-") -> str:
    """To one decimal; nearer to zero to two, for on which side of it an interval ends decides."""
    if 0 < abs(percent) < 0.05:
        return f"{percent:{sign}.2f}"
    return f"{percent + 0.0:{sign}.1f}"
