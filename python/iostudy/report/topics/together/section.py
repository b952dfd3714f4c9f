"""Report section on nodes that ran each trial together."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.report.formatting import format_signed_change, join_words
from iostudy.report.section import Section
from iostudy.report.text_table import TextTable
from iostudy.report.topics.together.values import JointNodeReport, TogetherReport
from iostudy.report.topics.verdicts.names import name_configuration
from iostudy.report.values import Report
from iostudy.units import format_percent, format_seconds

_MILLISECONDS = 1000
_ALL = "All nodes ran each trial at the same time."
_DRAWN = (
    "Each round put the nodes into a random order. A load of N nodes ran on the first N of them, "
    "at the same time."
)
_FIGURE = (
    "The figure of a trial is all bytes over the time from the first start to the last end; each "
    "node's own time is that of its monotonic clock."
)
_UNEXAMINED = (
    "Bottlenecks are not diagnosed, and foreign I/O is not measured: both need the devices of one "
    "host."
)


def build_together_section(report: Report) -> Section | None:
    """None for a study of one host."""
    found = report.together
    if found is None:
        return None
    return Section(
        name="nodes",
        title="Nodes",
        notes=(
            f"{_DRAWN if found.drawn else _ALL} {_FIGURE}",
            *_describe_starts(found),
            *_describe_stragglers(found),
            *_describe_absences(found),
            _UNEXAMINED,
        ),
        tables=(_table(found, report.factor),),
    )


def _describe_starts(found: TogetherReport) -> Iterator[str]:
    starts = found.starts
    if starts is None:
        return
    yield (
        f"From the first to the last start of a trial: median {_milliseconds(starts.median)}, "
        f"longest {_milliseconds(starts.longest)}, of {starts.trials} trials on several nodes. "
        "These times compare clocks, with an error of at most "
        f"{_milliseconds(starts.clock_error)} at each end."
    )
    has_growth_since_one = found.drawn and starts.trials < found.trials
    if has_growth_since_one and starts.share > found.margin:
        yield (
            "The time of a trial on several nodes contains this time between its starts; a trial "
            f"on one node has none. The median share is {format_percent(starts.share)}, more than "
            "the margin, so the growth since one node is too low by about as much. Longer trials "
            "make the share smaller."
        )


def _describe_stragglers(found: TogetherReport) -> Iterator[str]:
    nodes = dict.fromkeys(own.node for own in found.nodes if own.straggled)
    limit = f"took longer than the median node by more than {format_percent(found.margin)}"
    if nodes:
        yield f"Stragglers: in some trials, {join_words(tuple(nodes))} {limit}."
        return
    yield f"No node {limit}."


def _describe_absences(found: TogetherReport) -> Iterator[str]:
    for own in found.absences:
        missing = join_words(own.missing)
        yield f"Block {own.block} of {own.workload} ran without {missing}, lost before it."


def _table(found: TogetherReport, factor: str) -> TextTable:
    heads = (
        *("workload", "configuration", "node", "trials", "time"),
        *("against median node", "straggler in", "start, ms"),
    )
    return TextTable("", heads, [_row(own, factor) for own in found.nodes], names=3)


def _row(own: JointNodeReport, factor: str) -> tuple[str, ...]:
    return (
        *(own.workload, name_configuration(own.configuration, factor), own.node),
        *(str(own.trials), format_seconds(own.seconds)),
        "" if own.relative is None else format_signed_change(own.relative),
        "" if own.straggled is None else str(own.straggled),
        "" if own.start_after is None else f"{own.start_after * _MILLISECONDS:.1f}",
    )


def _milliseconds(seconds: float) -> str:
    return f"{seconds * _MILLISECONDS:.1f} ms"
