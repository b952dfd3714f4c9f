import math

import numpy as np
import pytest

from iostudy.analysis.switchback.carry_over import measure_group_effect

BLOCKS, CONFIGURATIONS = 100, 4


def study(draw, carry=0.0, trend=0.0):
    """Log figures, positions, and previous configurations; the first window has none."""
    order = np.stack([draw.permutation(CONFIGURATIONS) for _ in range(BLOCKS)])
    run = order.ravel()
    previous = np.concatenate([[-1], run[:-1]]).reshape(order.shape)
    at = np.argsort(order, axis=1)
    before = np.take_along_axis(previous, at, axis=1)
    slow = np.cumsum(0.01 * draw.standard_normal(BLOCKS))[:, None]
    logs = slow + 0.05 * draw.standard_normal(order.shape) + 0.1 * np.arange(CONFIGURATIONS)
    return logs + carry * (before == 2) + trend * at, at, before


@pytest.mark.parametrize("grouping", [1, 2])
def test_flags_without_an_effect_have_their_level(grouping):
    draw, studies = np.random.default_rng(5), 1000
    found = [
        measure_group_effect(own[0], own[grouping]) for own in (study(draw) for _ in range(studies))
    ]
    rate = np.mean([each.p < 0.05 for each in found])
    assert rate <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / studies)


def test_carry_over_is_found_with_its_configuration():
    logs, _, before = study(np.random.default_rng(6), carry=-0.05)
    found = measure_group_effect(logs, before)
    assert found.p < 1e-6
    assert found.group == 2
    assert found.low < found.effect < found.high < 0


def test_a_trend_within_blocks_is_found():
    logs, at, _ = study(np.random.default_rng(7), trend=0.02)
    found = measure_group_effect(logs, at)
    assert found.p < 1e-6
    assert found.group in (0, CONFIGURATIONS - 1)


def test_too_few_windows():
    assert measure_group_effect(np.zeros((1, 2)), np.array([[0, 1]])) is None
    assert measure_group_effect(np.ones((5, 2)), np.zeros((5, 2), dtype=np.int64)) is None
