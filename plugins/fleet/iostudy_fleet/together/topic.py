"""Nodes that ran each trial together."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import ClassVar

from pydantic import FiniteFloat

from iostudy.ledger.rows import TrialRow
from iostudy.report.base import OfConfiguration, OnWorkload, Value
from iostudy.report.formatting import format_signed_change, join_words, name_configuration
from iostudy.report.plugin_topics import Topic, TopicValue
from iostudy.report.section import Section, make_table
from iostudy.study.model import Study
from iostudy.units import format_percent, format_seconds
from iostudy_fleet.together.joint_run import NodePart, find_stragglers, read_node_parts


class JointNodeReport(OfConfiguration):
    """The runs of a node under one configuration."""

    node: str
    """Name of the node."""
    trials: int
    """Counted trials of the node."""
    seconds: FiniteFloat
    """Mean duration of its run, by its own clock."""
    relative: FiniteFloat | None
    """Mean of its duration relative to that of the median node, minus 1; None if it ran alone."""
    straggled: int | None
    """Trials in which it took longer than the median node by more than the margin."""
    start_after: FiniteFloat | None
    """Mean time of its start after the first start of the trial, in seconds."""


class AbsenceReport(OnWorkload):
    """A counted block without all nodes."""

    block: int
    """Number of the block, from 1."""
    missing: tuple[str, ...]
    """Nodes of other blocks that were lost before."""


class StartsReport(Value):
    """Times from the first to the last start of a trial, over trials on several nodes."""

    trials: int
    """Counted trials on several nodes."""
    median: FiniteFloat
    """Median of these times, in seconds."""
    longest: FiniteFloat
    """The longest of them, in seconds."""
    share: FiniteFloat
    """Median of their shares of the time of the trial."""
    clock_error: FiniteFloat
    """Largest possible error of a time on the common clock, in seconds."""


class TogetherReport(TopicValue):
    """Trials that all nodes ran at the same time."""

    leads: ClassVar[bool] = False
    margin: FiniteFloat
    """Margin of the study, beyond which a node is a straggler."""
    trials: int
    """Counted trials."""
    drawn: bool
    """Whether the load is a number of nodes, drawn at random in each round."""
    starts: StartsReport | None
    """Start skew; None if every trial ran on one node."""
    nodes: tuple[JointNodeReport, ...]
    """Nodes by workload and configuration, the slowest first."""
    absences: tuple[AbsenceReport, ...]
    """Counted blocks of all nodes that ran without some of them."""

    def build_section(self, *, factor: str, risk: float, several: bool) -> Section:
        """Return how the nodes ran, and their times by workload and configuration."""
        rows = (
            {
                "workload": node.workload,
                "configuration": name_configuration(node.configuration, factor),
                "node": node.node,
                "trials": node.trials,
                "time": format_seconds(node.seconds),
                "against median node": ""
                if node.relative is None
                else format_signed_change(node.relative),
                "straggler in": "" if node.straggled is None else node.straggled,
                "start, ms": ""
                if node.start_after is None
                else f"{node.start_after * _MILLISECONDS:.1f}",
            }
            for node in self.nodes
        )
        notes, tables = tuple(_notes(self)), (make_table(rows, names=3),)
        return Section("nodes", "Nodes", notes, tables=tables)


Joint = Sequence[tuple[TrialRow, Mapping[str, NodePart]]]


def build_together(study: Study, rows: Sequence[TrialRow]) -> TogetherReport | None:
    """None if no counted trial was one of several nodes."""
    parted = [(row, read_node_parts(row.parts)) for row in rows if row.counts]
    joint = [(row, {part.node: part for part in parts}) for row, parts in parted if parts]
    if not joint:
        return None
    starts = None
    if trials := [parts for _, parts in joint if len(parts) > 1]:
        skews = [max(part.start_after for part in parts.values()) for parts in trials]
        ends = [max(part.start_after + part.seconds for part in parts.values()) for parts in trials]
        starts = StartsReport(
            trials=len(trials),
            median=statistics.median(skews),
            longest=max(skews),
            share=statistics.median(skew / end for skew, end in zip(skews, ends, strict=True)),
            clock_error=max(part.error for parts in trials for part in parts.values()),
        )
    return TogetherReport(
        margin=study.decide.margin,
        trials=len(joint),
        drawn=study.most_nodes is not None,
        starts=starts,
        nodes=tuple(_build_nodes(study, joint)),
        absences=tuple(_find_absences(study, joint)),
    )


def _build_nodes(study: Study, joint: Joint) -> Iterator[JointNodeReport]:
    for request in study.workloads:
        for configuration in study.configurations():
            key = (request.label, configuration.label)
            trials = [
                trial for trial in joint if (trial[0].workload, trial[0].configuration) == key
            ]
            nodes = dict.fromkeys(node for _, parts in trials for node in parts)
            reports = (_build_node(study, trials, node) for node in nodes)
            yield from sorted(reports, key=lambda node: -(node.relative or 0))


def _build_node(study: Study, joint: Joint, node: str) -> JointNodeReport:
    trials = [(row, parts) for row, parts in joint if node in parts]
    seconds = [
        {name: part.seconds for name, part in parts.items()}
        for _, parts in trials
        if len(parts) > 1
    ]
    straggled = sum(node in find_stragglers(times, study.decide.margin) for times in seconds)
    relative = [times[node] / statistics.median(times.values()) - 1 for times in seconds]
    starts = [parts[node].start_after for _, parts in trials if len(parts) > 1]
    return JointNodeReport(
        workload=trials[0][0].workload,
        configuration=trials[0][0].configuration,
        node=node,
        trials=len(trials),
        seconds=statistics.fmean(parts[node].seconds for _, parts in trials),
        relative=statistics.fmean(relative) if relative else None,
        straggled=straggled if seconds else None,
        start_after=statistics.fmean(starts) if starts else None,
    )


def _find_absences(study: Study, joint: Joint) -> Iterator[AbsenceReport]:
    """Blocks without some node; those with a number of nodes have as many as they need."""
    of_all = {request.label for request in study.workloads if request.node_count is None}
    joint = [trial for trial in joint if trial[0].workload in of_all]
    every = dict.fromkeys(node for _, parts in joint for node in parts)
    for (workload, block), trials in groupby(
        joint, lambda trial: (trial[0].workload, trial[0].block)
    ):
        _, parts = next(trials)
        if missing := tuple(node for node in every if node not in parts):
            yield AbsenceReport(workload=workload, block=block, missing=missing)


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


def _notes(report: TogetherReport) -> Iterator[str]:
    """Yield how the nodes ran, their starts, stragglers, and blocks without some of them."""
    yield f"{_DRAWN if report.drawn else _ALL} {_FIGURE}"
    if starts := report.starts:
        yield (
            f"From the first to the last start of a trial: median {_milliseconds(starts.median)}, "
            f"longest {_milliseconds(starts.longest)}, of {starts.trials} trials on several nodes. "
            "These times compare clocks, with an error of at most "
            f"{_milliseconds(starts.clock_error)} at each end."
        )
        has_growth_since_one = report.drawn and starts.trials < report.trials
        if has_growth_since_one and starts.share > report.margin:
            yield (
                "The time of a trial on several nodes contains this time between its starts; a "
                "trial on one node has none. The median share is "
                f"{format_percent(starts.share)}, more than the margin, so the growth since one "
                "node is too low by about as much. Longer trials make the share smaller."
            )
    nodes = dict.fromkeys(node.node for node in report.nodes if node.straggled)
    limit = f"took longer than the median node by more than {format_percent(report.margin)}"
    if nodes:
        yield f"Stragglers: in some trials, {join_words(tuple(nodes))} {limit}."
    else:
        yield f"No node {limit}."
    for absence in report.absences:
        missing = join_words(absence.missing)
        yield f"Block {absence.block} of {absence.workload} ran without {missing}, lost before it."
    yield _UNEXAMINED


def _milliseconds(seconds: float) -> str:
    return f"{seconds * _MILLISECONDS:.1f} ms"


TOPIC = Topic(
    TogetherReport,
    "The nodes, if all ran each trial at the same time; null for a study of one host.",
    build_together,
)
