"""Nodes of joint trials in the report, from their parts in the ledger (pure)."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from iostudy.ledger.rows import TrialRow
from iostudy.report.topics.together.values import (
    AbsenceReport,
    JointNodeReport,
    StartsReport,
    TogetherReport,
)
from iostudy.results.joint_run import find_stragglers
from iostudy.results.node_parts import NodePart, read_node_parts
from iostudy.study.model import Study

Joint = Sequence[tuple[TrialRow, Mapping[str, NodePart]]]


def build_together(study: Study, rows: Sequence[TrialRow]) -> TogetherReport | None:
    """None if no counted trial was one of several nodes."""
    parted = [(row, read_node_parts(row.parts)) for row in rows if row.counts]
    joint = [(row, {own.node: own for own in parts}) for row, parts in parted if parts]
    if not joint:
        return None
    return TogetherReport(
        margin=study.decide.margin,
        trials=len(joint),
        drawn=study.most_nodes is not None,
        starts=_build_starts([parts for _, parts in joint if len(parts) > 1]),
        nodes=tuple(_build_nodes(study, joint)),
        absences=tuple(_find_absences(study, joint)),
    )


def _build_starts(trials: Sequence[Mapping[str, NodePart]]) -> StartsReport | None:
    if not trials:
        return None
    skews = [max(own.start_after for own in parts.values()) for parts in trials]
    ends = [max(own.start_after + own.seconds for own in parts.values()) for parts in trials]
    return StartsReport(
        trials=len(trials),
        median=statistics.median(skews),
        longest=max(skews),
        share=statistics.median(skew / end for skew, end in zip(skews, ends, strict=True)),
        clock_error=max(own.error for parts in trials for own in parts.values()),
    )


def _build_nodes(study: Study, joint: Joint) -> Iterator[JointNodeReport]:
    for request in study.workloads:
        for configuration in study.configurations():
            key = (request.label, configuration.label)
            own = [each for each in joint if (each[0].workload, each[0].configuration) == key]
            nodes = dict.fromkeys(node for _, parts in own for node in parts)
            found = [_build_node(study, own, node) for node in nodes]
            yield from sorted(found, key=lambda each: -(each.relative or 0))


def _build_node(study: Study, joint: Joint, node: str) -> JointNodeReport:
    own = [(row, parts) for row, parts in joint if node in parts]
    several = [parts for _, parts in own if len(parts) > 1]
    straggled = sum(node in _stragglers(parts, study.decide.margin) for parts in several)
    return JointNodeReport(
        workload=own[0][0].workload,
        configuration=own[0][0].configuration,
        node=node,
        trials=len(own),
        seconds=statistics.fmean(parts[node].seconds for _, parts in own),
        relative=_mean(_relative(parts, node) for parts in several),
        straggled=straggled if several else None,
        start_after=_mean(parts[node].start_after for parts in several),
    )


def _mean(values: Iterable[float]) -> float | None:
    found = tuple(values)
    return statistics.fmean(found) if found else None


def _stragglers(parts: Mapping[str, NodePart], margin: float) -> tuple[str, ...]:
    return find_stragglers({node: own.seconds for node, own in parts.items()}, margin)


def _relative(parts: Mapping[str, NodePart], node: str) -> float:
    return parts[node].seconds / statistics.median(own.seconds for own in parts.values()) - 1


def _find_absences(study: Study, joint: Joint) -> Iterator[AbsenceReport]:
    """Blocks without some node; those with a number of nodes have as many as they need."""
    of_all = {request.label for request in study.workloads if request.node_count is None}
    joint = [own for own in joint if own[0].workload in of_all]
    every = dict.fromkeys(node for _, parts in joint for node in parts)
    for (workload, block), trials in groupby(joint, lambda own: (own[0].workload, own[0].block)):
        _, parts = next(trials)
        if missing := tuple(node for node in every if node not in parts):
            yield AbsenceReport(workload=workload, block=block, missing=missing)
