"""Report on a fleet from the studies of its nodes (pure)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.metadata import version

from iostudy.analysis.paired import Interval, as_fraction
from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import EstimatedDifference, Verdict
from iostudy.report.base import Span, build_span, finite
from iostudy.report.build import build_workloads
from iostudy.report.topics.verdicts import list_verdicts
from iostudy.results.comparisons import compare_configurations, entitle
from iostudy.results.recorded_study import RecordedStudy
from iostudy_fleet.meta_analysis import PooledEffect
from iostudy_fleet.node_traits import find_traits
from iostudy_fleet.pooling import (
    ClassDifference,
    FleetEffect,
    NodeClass,
    NodeStudy,
    fleet_rule,
    mean_difference,
    new_node_difference,
    pool_fleet,
)
from iostudy_fleet.report.matching import find_repeated_hosts, name_nodes, require_one_study
from iostudy_fleet.report.text import build_headline, explain_caveats
from iostudy_fleet.report.values import (
    BaselineSpread,
    ClassMember,
    ClassReport,
    FleetComparison,
    FleetDifference,
    FleetReport,
    Heterogeneity,
    NodeReport,
    NodeResult,
    OddFinding,
)

_TAU_ALPHA = 0.05


def build_fleet_report(sides: Sequence[RecordedStudy], missing: Sequence[str] = ()) -> FleetReport:
    """Pool the studies of the nodes; UsageError unless they are runs of one study.

    ``missing`` says of each node without complete results why.
    """
    require_one_study(sides)
    names = name_nodes(sides)
    nodes = tuple(
        NodeStudy(name, side.study, side.measured, find_traits(side.row.circumstances))
        for name, side in zip(names, sides, strict=True)
    )
    effects = pool_fleet(nodes)
    reports = [_node(*pair, effects) for pair in zip(nodes, sides, strict=True)]
    rule = fleet_rule(nodes)
    comparisons = tuple(
        _comparison(effect, reports, rule) for effect in effects if not effect.is_baseline
    )
    return FleetReport(
        iostudy_version=version("iostudy"),
        question=sides[0].study.question,
        name=sides[0].study.name,
        baseline=sides[0].study.baseline.label,
        margin=rule.margin,
        risk=rule.risk,
        headline=build_headline(comparisons, reports, sides[0].study.baseline.label),
        caveats=(*missing, *explain_caveats(reports, find_repeated_hosts(sides))),
        nodes=tuple(sorted(reports, key=_rank_oddity)),
        comparisons=comparisons,
        baselines=tuple(_baseline(effect) for effect in effects if effect.is_baseline),
        classes=tuple(
            _class_report(effect, group, rule) for effect in effects for group in effect.classes
        ),
        study_text=sides[0].row.text,
    )


def _node(node: NodeStudy, side: RecordedStudy, effects: Sequence[FleetEffect]) -> NodeReport:
    compared = compare_configurations(side.study, side.measured)
    workloads, _ = build_workloads(side, compared, ())
    ended = (
        result.baseline or result.has_ended(side.study.decide.max_blocks)
        for workload in list_verdicts(workloads)
        for result in workload.results
    )
    return NodeReport(
        node=node.node,
        place=side.place,
        started_at=side.row.started_at,
        finished=all(ended),
        traits=dict(node.traits),
        odd=tuple(_odd_findings(node.node, effects)),
        workloads=tuple(
            NodeResult(
                workload=entitle(
                    workload.workload, workload.figure.name, is_guard=workload.is_guard
                ),
                results=tuple(
                    result
                    for result in workload.results
                    if result.configuration not in side.study.reduced
                ),
            )
            for workload in list_verdicts(workloads)
        ),
        left_out={
            **side.study.left_out,
            **{label: f"it lacks {what}" for label, what in side.study.reduced.items()},
        },
    )


def _rank_oddity(node: NodeReport) -> tuple[int, float]:
    """Most findings first, then the least likely."""
    return -len(node.odd), min((result.p_value for result in node.odd), default=1.0)


def _odd_findings(node: str, effects: Sequence[FleetEffect]) -> Iterator[OddFinding]:
    for effect in effects:
        for odd in effect.odd:
            if odd.node == node:
                yield OddFinding(
                    workload=effect.title,
                    configuration=effect.configuration,
                    change=as_fraction(_sign(effect) * odd.deviation),
                    p_value=odd.p_value,
                )


def _sign(effect: FleetEffect) -> int:
    return 1 if effect.figure.higher_is_better else -1


def _comparison(effect: FleetEffect, nodes: Sequence[NodeReport], rule: Rule) -> FleetComparison:
    verdicts = (
        result.verdict
        for node in nodes
        for workload in node.workloads
        for result in workload.results
        if (workload.workload, result.configuration) == (effect.title, effect.configuration)
    )
    counts = Counter(verdict for verdict in verdicts if verdict is not None)
    return FleetComparison(
        workload=effect.title,
        configuration=effect.configuration,
        figure=effect.figure,
        nodes=len(effect.nodes),
        mean=_difference(mean_difference(effect, rule)),
        new_node=_difference(new_node_difference(effect, rule)),
        heterogeneity=_heterogeneity(effect.pooled),
        verdicts={verdict: counts[verdict] for verdict in Verdict},
    )


def _difference(difference: EstimatedDifference) -> FleetDifference:
    return FleetDifference(
        change=finite(difference.change),
        interval=build_span(difference.change_interval),
        verdict=difference.verdict,
        by_margin=difference.by_margin,
    )


def _heterogeneity(pooled: PooledEffect) -> Heterogeneity:
    low, high = pooled.tau_interval(_TAU_ALPHA)
    return Heterogeneity(
        tau=pooled.tau, tau_interval=Span(low=low, high=high), i_squared=pooled.i_squared
    )


def _baseline(effect: FleetEffect) -> BaselineSpread:
    return BaselineSpread(
        workload=effect.title,
        configuration=effect.configuration,
        figure=effect.figure,
        nodes=len(effect.nodes),
        value=math.exp(_sign(effect) * effect.pooled.mean),
        heterogeneity=_heterogeneity(effect.pooled),
    )


def _class_report(effect: FleetEffect, difference: ClassDifference, rule: Rule) -> ClassReport:
    return ClassReport(
        workload=effect.title,
        configuration=effect.configuration,
        traits=difference.traits,
        p_value=difference.p_value,
        classes=tuple(_class_member(effect, group, rule) for group in difference.classes),
    )


def _class_member(effect: FleetEffect, member: NodeClass, rule: Rule) -> ClassMember:
    """Changes of the baseline's figure are relative to the mean of all nodes."""
    origin = effect.pooled.mean if effect.is_baseline else 0.0
    mean = mean_difference(replace(effect, pooled=member.pooled), rule)
    interval = Interval(mean.interval.low - origin, mean.interval.high - origin)
    change = replace(mean, estimate=mean.estimate - origin, interval=interval)
    return ClassMember(
        label=member.label,
        nodes=member.nodes,
        change=finite(change.change),
        interval=build_span(change.change_interval),
    )
