"""Random nodes of a block."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from statistics import fmean, pvariance, variance

import pytest

from iostudy_fleet.together.node_draw import draw_nodes

NODES = tuple(f"n{number}" for number in range(8))


def test_a_draw_depends_on_its_round_alone():
    assert draw_nodes(NODES, 3, 7) == draw_nodes(tuple(reversed(NODES)), 3, 7)
    assert len({draw_nodes(NODES, 3, seed) for seed in range(50)}) > 40
    assert draw_nodes(NODES, None, 7) == NODES


def test_the_nodes_of_a_load_contain_those_of_a_smaller_one():
    for seed in range(50):
        drawn = [set(draw_nodes(NODES, count, seed)) for count in (1, 2, 4, 8)]
        assert [len(own) for own in drawn] == [1, 2, 4, 8]
        assert all(small < large for small, large in pairwise(drawn))


def test_without_a_lost_node_the_others_keep_their_order():
    for seed in range(50):
        everybody = draw_nodes(NODES, 8, seed)
        left = [node for node in everybody if node != "n3"]
        assert draw_nodes([node for node in NODES if node != "n3"], 7, seed) == tuple(left)


def test_every_node_is_drawn_equally_often():
    """Chi-squared with 7 degrees of freedom: 24.3 is exceeded by 1 in 1000 fair draws."""
    rounds = 4000
    counts = Counter(draw_nodes(NODES, 1, seed)[0] for seed in range(rounds))
    expected = rounds / len(NODES)
    assert sum((counts[node] - expected) ** 2 / expected for node in NODES) < 24.3


@pytest.mark.parametrize(("few", "many"), [(1, 2), (1, 4), (2, 4), (4, 8)])
def test_differences_between_nodes_add_to_gains_what_the_method_says(few: int, many: int):
    """The standard error of a variance from 4000 rounds is about 2 %."""
    effects = dict(zip(NODES, (0.0, 0.3, -0.2, 0.1, 0.5, -0.4, 0.2, -0.1), strict=True))
    spread = variance(effects.values())

    def mean_of(count: int, seed: int) -> float:
        return fmean(effects[node] for node in draw_nodes(NODES, count, seed))

    rounds = range(4000)
    nested = pvariance([mean_of(many, seed) - mean_of(few, seed) for seed in rounds])
    apart = pvariance([mean_of(many, -1 - seed) - mean_of(few, seed) for seed in rounds])
    assert nested == pytest.approx((1 / few - 1 / many) * spread, rel=0.12)
    independent = (1 / few + 1 / many - 2 / len(NODES)) * spread
    assert apart == pytest.approx(independent, rel=0.12)
