"""One study on several nodes: what is pooled, which nodes are odd, which classes differ."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from iostudy.analysis.verdict import Verdict
from iostudy.study.model import Study
from iostudy_fleet.pooling import (
    FleetEffect,
    NodeEffect,
    NodeStudy,
    find_odd_nodes,
    find_partitions,
    fleet_rule,
    mean_difference,
    new_node_difference,
    pool_fleet,
    pool_nodes,
)
from tests.report.factory import factor, rows, study

STUDY = study(factor("block.scheduler", "none", "bfq"), workloads=("dfsio-write",))


def node(
    number: int,
    *,
    speed: float = 1.0,
    effect: float = -0.1,
    blocks: int = 8,
    of: Study = STUDY,
    **traits: str,
) -> NodeStudy:
    """A node whose figures and changes differ a little from those of others."""
    draw = random.Random(number)
    base = 400 * speed * math.exp(draw.gauss(0, 0.02))
    own = {"none": 0.0, "bfq": math.log1p(effect) + draw.gauss(0, 0.01)}
    found = []
    for row in rows(of, blocks=blocks, effects={}):
        value = base * math.exp(own[row.configuration] + draw.gauss(0, 0.01))
        found.append(replace(row, figures={**(row.figures or {}), "aggregate": value}))
    return NodeStudy(f"node{number:02}", of, found, traits)


def only(effects: tuple[FleetEffect, ...], label: str) -> FleetEffect:
    (found,) = (each for each in effects if each.configuration == label)
    return found


def test_the_mean_over_nodes_has_a_verdict_and_an_interval_around_the_truth() -> None:
    nodes = [node(number) for number in range(8)]
    effects = pool_fleet(nodes)
    assert [(each.configuration, each.is_baseline) for each in effects] == [
        ("none", True),
        ("bfq", False),
    ]
    found = mean_difference(only(effects, "bfq"), fleet_rule(nodes))
    assert (found.verdict, found.by_margin) == (Verdict.WORSE, True)
    assert found.change_interval[0] < -0.1 < found.change_interval[1]
    further = new_node_difference(only(effects, "bfq"), fleet_rule(nodes))
    assert further.change_interval[0] < found.change_interval[0]
    assert further.change_interval[1] > found.change_interval[1]


def test_a_slow_node_is_odd_in_its_figure_and_not_in_its_ratio() -> None:
    effects = pool_fleet([node(number, speed=0.6 if number == 3 else 1) for number in range(10)])
    (odd,) = only(effects, "none").odd
    assert odd.node == "node03"
    assert math.expm1(odd.deviation) == pytest.approx(-0.4, abs=0.03)
    assert only(effects, "bfq").odd == ()


def test_a_node_that_responds_otherwise_is_odd_in_its_ratio() -> None:
    effects = pool_fleet([node(number, effect=0.3 if number == 5 else -0.1) for number in range(9)])
    assert [each.node for each in only(effects, "bfq").odd] == ["node05"]
    assert only(effects, "none").odd == ()


def test_a_noisy_node_is_not_odd_for_its_noise() -> None:
    quiet = [NodeEffect(f"{n}", 0.001 * (n % 3), 0.005, 8) for n in range(29)]
    loud = NodeEffect("loud", 0.05, 0.05, 8)
    assert find_odd_nodes([*quiet, loud], 0.05, tests=1) == ()
    assert find_odd_nodes([*quiet, replace(loud, sd=0.005)], 0.05, tests=1)


def test_nodes_of_one_block_each_are_not_tested_for_odd_ones() -> None:
    nodes = [NodeEffect(f"{n}", 0.0 if n else 0.5, math.nan, 1) for n in range(9)]
    assert find_odd_nodes(nodes, 0.05, tests=1) == ()


def test_nodes_without_any_noise_are_pooled() -> None:
    found = pool_nodes([NodeEffect(f"{n}", 0.25, 0.0, 5) for n in range(4)])
    assert (found.mean, found.tau) == (pytest.approx(0.25), 0.0)


def test_a_node_of_one_block_counts_by_the_noise_of_the_others() -> None:
    effects = [NodeEffect("a", 0.1, 0.02, 8), NodeEffect("b", 0.1, math.nan, 1)]
    assert list(pool_nodes(effects).effects.variances) == pytest.approx([0.0004 / 8, 0.0004])


def test_an_effect_that_one_node_measured_is_not_pooled() -> None:
    nodes = [node(1), node(2, blocks=0)]
    assert pool_fleet(nodes) == ()


def test_classes_by_firmware_are_found_with_the_traits_that_cannot_be_separated() -> None:
    nodes = [
        node(
            number,
            effect=-0.1 if number < 5 else -0.3,
            kernel="6.1" if number < 5 else "6.12",
            firmware="A" if number < 5 else "B",
            memory=f"{number % 2} GiB",
        )
        for number in range(10)
    ]
    effect = only(pool_fleet(nodes), "bfq")
    (found,) = effect.classes
    assert found.traits == ("kernel", "firmware")
    assert [(own.label, len(own.nodes)) for own in found.classes] == [("6.1, A", 5), ("6.12, B", 5)]
    first, second = (math.expm1(own.pooled.mean) for own in found.classes)
    assert (first, second) == (pytest.approx(-0.1, abs=0.02), pytest.approx(-0.3, abs=0.02))


def test_equal_classes_are_not_reported() -> None:
    nodes = [node(number, kernel="6.1" if number < 5 else "6.12") for number in range(10)]
    assert all(each.classes == () for each in pool_fleet(nodes))


def test_a_class_needs_two_nodes() -> None:
    traits = {"a": {"kernel": "6.1"}, "b": {"kernel": "6.1"}, "c": {"kernel": "6.12"}, "d": {}}
    assert find_partitions(traits) == ()
    (found,) = find_partitions({**traits, "e": {"kernel": "6.12"}})
    assert found.classes == {"6.1": ("a", "b"), "6.12": ("c", "e")}


def test_the_bias_of_windows_widens_the_intervals() -> None:
    nodes = [node(number) for number in range(5)]
    effect = only(pool_fleet(nodes), "bfq")
    rule = fleet_rule(nodes)
    plain = mean_difference(effect, rule).interval
    wide = mean_difference(effect, replace(rule, bias=0.01)).interval
    assert (plain.low - wide.low, wide.high - plain.high) == pytest.approx((0.01, 0.01))
