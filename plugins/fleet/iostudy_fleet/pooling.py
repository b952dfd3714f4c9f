"""One study on several nodes (pure): pooled effects, odd nodes, classes of nodes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from iostudy.analysis.distributions import Array
from iostudy.analysis.paired import Interval
from iostudy.analysis.rule import Rule
from iostudy.analysis.verdict import (
    EstimatedDifference,
    Verdict,
    classify_intervals,
    exceeds_margin,
)
from iostudy.ledger.rows import MeasuredRow
from iostudy.results.comparisons import (
    collect_runs,
    compare_configurations,
    decision_rule,
    entitle,
    select_figures,
)
from iostudy.study.model import Study, WorkloadRequest
from iostudy.workloads.definition import Figure
from iostudy_fleet.meta_analysis import PooledEffect, compare_classes, find_odd_effects, pool

LEAST_NODES = 2
"""Fewest nodes whose effects can be pooled; also the fewest of a class."""

_LEAST_SD = 1e-6
"""Least standard deviation of a log figure: one part in a million, below any timer's noise."""


@dataclass(frozen=True)
class NodeStudy:
    """The study of one node, and the traits by which nodes can be divided into classes."""

    node: str
    study: Study
    rows: Sequence[MeasuredRow]
    traits: Mapping[str, str]


@dataclass(frozen=True)
class NodeEffect:
    """A node's log values, one of each of its ``blocks`` blocks: typical value and deviation.

    The deviation is NaN for a single block, and after a failed run.
    """

    node: str
    mean: float
    sd: float
    blocks: int


@dataclass(frozen=True)
class OddNode:
    """A node with an effect unlike the others', and the p value for all nodes and effects.

    ``deviation`` is its distance, a log-ratio, from the mean of the nodes that are not odd.
    """

    node: str
    deviation: float
    p_value: float


@dataclass(frozen=True)
class NodeClass:
    """The nodes with the same traits, and their pooled effect."""

    label: str
    nodes: tuple[str, ...]
    pooled: PooledEffect


@dataclass(frozen=True)
class ClassDifference:
    """Classes whose effects differ; ``traits`` divide the nodes in the same way.

    The p value is adjusted for all such tests of the fleet.
    """

    traits: tuple[str, ...]
    p_value: float
    classes: tuple[NodeClass, ...]


@dataclass(frozen=True)
class FleetEffect:
    """What all nodes measured of one configuration on one workload by one figure.

    ``title`` is the workload, with the figure if it is a guard. Values of the baseline are s ln y.
    Those of another configuration are paired log-ratios to the baseline, positive if better.
    """

    title: str
    configuration: str
    figure: Figure
    is_baseline: bool
    nodes: tuple[NodeEffect, ...]
    pooled: PooledEffect
    odd: tuple[OddNode, ...]
    classes: tuple[ClassDifference, ...] = ()


@dataclass(frozen=True)
class Partition:
    """Classes of nodes; the traits that divide the nodes in this way, and the nodes by class."""

    traits: tuple[str, ...]
    classes: Mapping[str, tuple[str, ...]]


def pool_fleet(nodes: Sequence[NodeStudy]) -> tuple[FleetEffect, ...]:
    """Pool every effect that two nodes or more measured, in the order of the first study.

    The risk of the study is that of naming any node odd in a fleet of equal nodes, and again that
    of naming any two classes.
    """
    samples = list(_collect_samples(nodes))
    risk = nodes[0].study.decide.risk
    partitions = find_partitions({node.node: node.traits for node in nodes})
    class_tests = len(samples) * len(partitions)
    return tuple(
        FleetEffect(
            title=sample.title,
            configuration=sample.configuration,
            figure=sample.figure,
            is_baseline=sample.is_baseline,
            nodes=sample.nodes,
            pooled=pool_nodes(sample.nodes),
            odd=find_odd_nodes(sample.nodes, risk, tests=len(samples)),
            classes=tuple(_class_differences(sample.nodes, partitions, risk, class_tests)),
        )
        for sample in samples
    )


def mean_difference(effect: FleetEffect, rule: Rule) -> EstimatedDifference:
    """Return the mean effect over nodes with its interval and verdict."""
    return _difference(effect, effect.pooled.interval(_level(rule)), rule)


def new_node_difference(effect: FleetEffect, rule: Rule) -> EstimatedDifference:
    """Return the same with the prediction interval: the verdict on one more node of this kind."""
    return _difference(effect, effect.pooled.prediction(_level(rule)), rule)


def fleet_rule(nodes: Iterable[NodeStudy]) -> Rule:
    """Return the rule of the study; its bias is the largest of all nodes."""
    return max((decision_rule(node.study) for node in nodes), key=lambda rule: rule.bias)


def pool_nodes(nodes: Sequence[NodeEffect]) -> PooledEffect:
    """Pool the effects, with the noise of a block that is common to all nodes.

    The noise of a single node is known from few blocks. Weights from it are themselves noise, and
    Q is then too large (docs/method/many-nodes.md).
    """
    return pool([node.mean for node in nodes], _variances(nodes))


def find_odd_nodes(nodes: Sequence[NodeEffect], risk: float, tests: int) -> tuple[OddNode, ...]:
    """Return the odd nodes; each has its own noise where that exceeds the common one.

    ``tests`` is the number of effects that share the risk. If no node shows the noise of a block,
    as after a single block each, nothing is tested.
    """
    if not any(math.isfinite(node.sd) for node in nodes):
        return ()
    common = np.array(_variances(nodes))
    variances = np.array([node.sd**2 / node.blocks for node in nodes])
    freedoms = np.array([node.blocks - 1.0 if math.isfinite(node.sd) else 0.0 for node in nodes])
    is_noisier = variances > common
    effects = find_odd_effects(
        [node.mean for node in nodes],
        list(np.where(is_noisier, variances, common)),
        risk / tests,
        list(np.where(is_noisier, freedoms, freedoms.sum())),
    )
    return tuple(
        OddNode(nodes[odd.index].node, odd.deviation, min(1.0, tests * odd.p_value))
        for odd in effects
    )


def find_partitions(traits: Mapping[str, Mapping[str, str]]) -> tuple[Partition, ...]:
    """Return the ways in which traits divide the nodes into two classes or more.

    A class has two nodes at least; nodes of smaller classes, or without the trait, are left out.
    """
    groups: dict[frozenset[tuple[str, ...]], dict[str, Mapping[tuple[str, ...], str]]] = {}
    for trait in dict.fromkeys(name for values in traits.values() for name in values):
        classes = _divide(trait, traits)
        if len(classes) > 1:
            groups.setdefault(frozenset(classes), {})[trait] = classes
    return tuple(_merge(classes) for classes in groups.values())


def _merge(classes: Mapping[str, Mapping[tuple[str, ...], str]]) -> Partition:
    """Return the one partition of several traits; a class has a label of all their values."""
    first = next(iter(classes.values()))
    labels = {nodes: ", ".join(names[nodes] for names in classes.values()) for nodes in first}
    return Partition(tuple(classes), {label: nodes for nodes, label in labels.items()})


def _divide(trait: str, traits: Mapping[str, Mapping[str, str]]) -> dict[tuple[str, ...], str]:
    """Return the value of each class by its nodes."""
    groups: dict[str, list[str]] = {}
    for node, values in traits.items():
        if trait in values:
            groups.setdefault(values[trait], []).append(node)
    return {tuple(nodes): value for value, nodes in groups.items() if len(nodes) >= LEAST_NODES}


def _class_differences(
    nodes: Sequence[NodeEffect], partitions: Iterable[Partition], risk: float, tests: int
) -> Iterator[ClassDifference]:
    for partition in partitions:
        measured = {
            label: [node for node in nodes if node.node in members]
            for label, members in partition.classes.items()
        }
        groups = {label: group for label, group in measured.items() if len(group) >= LEAST_NODES}
        if len(groups) < 2:
            continue
        members = [node for group in groups.values() for node in group]
        labels = [label for label, group in groups.items() for _ in group]
        p_value = tests * compare_classes(
            [member.mean for member in members], _variances(members), labels
        )
        if p_value <= risk:
            classes = (
                NodeClass(label, tuple(node.node for node in group), pool_nodes(group))
                for label, group in groups.items()
            )
            yield ClassDifference(partition.traits, p_value, tuple(classes))


def _variances(nodes: Sequence[NodeEffect]) -> list[float]:
    """Variances of the means, by the common noise of a block."""
    valid = [node for node in nodes if math.isfinite(node.sd)]
    squares = math.fsum((node.blocks - 1) * node.sd**2 for node in valid)
    common = squares / max(1, sum(node.blocks - 1 for node in valid))
    return [max(common, _LEAST_SD**2) / node.blocks for node in nodes]


def _level(rule: Rule) -> float:
    return rule.risk / rule.comparisons


def _difference(effect: FleetEffect, interval: Interval, rule: Rule) -> EstimatedDifference:
    """An interval with its verdict; the blocks of the nodes do not count here."""
    wide = Interval(interval.low - rule.bias, interval.high + rule.bias)
    verdict = Verdict(str(classify_intervals(wide.low, wide.high, rule.min_blocks, rule)))
    return EstimatedDifference(
        estimate=effect.pooled.mean,
        interval=wide,
        verdict=verdict,
        by_margin=exceeds_margin(verdict, wide, rule.delta),
        higher_is_better=effect.figure.higher_is_better,
    )


@dataclass(frozen=True)
class _Sample:
    title: str
    configuration: str
    figure: Figure
    is_baseline: bool
    nodes: tuple[NodeEffect, ...]


def _collect_samples(nodes: Sequence[NodeStudy]) -> Iterator[_Sample]:
    """Yield what two nodes or more measured: the baseline of a workload, then its comparisons."""
    collected: dict[tuple[str, str], list[NodeEffect]] = {}
    for node in nodes:
        for key, effect in _node_effects(node):
            collected.setdefault(key, []).append(effect)
    study = nodes[0].study
    for workload in study.workloads:
        for figure in workload.figures:
            title = _entitle(workload, figure)
            for (name, label), effects in collected.items():
                if name == title and len(effects) >= LEAST_NODES:
                    is_baseline = label == study.baseline.label
                    yield _Sample(title, label, figure, is_baseline, tuple(effects))


def _node_effects(node: NodeStudy) -> Iterator[tuple[tuple[str, str], NodeEffect]]:
    """Yield the effects by title and configuration, of those that are as the file has them."""
    study = node.study
    runs = collect_runs(study, node.rows)
    for workload in study.workloads:
        alone = runs.get((workload.label, study.baseline.label), {})
        for figure in workload.figures:
            if figures := select_figures(alone, figure.name):
                sign = 1 if figure.higher_is_better else -1
                logarithms: Array = sign * np.log(list(figures.values()))
                sd = float(np.std(logarithms, ddof=1)) if len(figures) > 1 else math.nan
                effect = NodeEffect(node.node, float(np.mean(logarithms)), sd, len(figures))
                yield (_entitle(workload, figure), study.baseline.label), effect
    for result in compare_configurations(study, node.rows):
        comparison = result.comparison
        if math.isfinite(comparison.estimate) and result.configuration not in study.reduced:
            effect = NodeEffect(node.node, comparison.estimate, comparison.sd, comparison.blocks)
            yield (result.title, result.configuration), effect


def _entitle(workload: WorkloadRequest, figure: Figure) -> str:
    return entitle(workload.label, figure.name, is_guard=figure != workload.figure)
