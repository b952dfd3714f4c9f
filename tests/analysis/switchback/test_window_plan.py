"""Plans of windows: lengths, washouts, blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iostudy.analysis.switchback.window_plan import (
    JITTER,
    RESPONSE_SECONDS,
    EarlierPlan,
    Rehearsal,
    compute_washout,
    count_blocks,
    count_earlier_blocks,
    plan_windows,
)

FAST = Rehearsal(operations_per_second=20_000, switch_seconds=0.03)


def test_fast_storage_has_short_windows():
    plan = plan_windows(FAST, 2, 0.05, 20, 60)
    assert plan is not None
    assert plan.window_seconds == 0.04
    assert plan.washout_seconds < 2 * plan.window_seconds
    assert plan.pair_seconds == pytest.approx(3 * (0.03 + plan.washout_seconds) + 4 * 0.04)
    assert 40 < count_blocks(60) * plan.block_seconds < 80


def test_half_of_the_shortest_window_has_the_operations():
    plan = plan_windows(Rehearsal(400, 0.03), 2, 0.05, 30, 60)
    assert plan is not None
    assert (1 - JITTER) * plan.window_seconds / 2 * 400 == pytest.approx(30)


def test_slow_storage_has_no_windows():
    assert plan_windows(Rehearsal(15, 0.03), 2, 0.05, 20, 60) is None


@pytest.mark.parametrize(
    ("seconds", "blocks", "pairs"), [(10, 20, 2), (60, 96, 2), (240, 384, 2), (2400, 384, 19)]
)
def test_more_time_gives_more_blocks_and_then_longer_ones(seconds, blocks, pairs):
    plan = plan_windows(FAST, 2, 0.05, 20, seconds)
    assert plan is not None
    assert (count_blocks(seconds), plan.pairs) == (blocks, pytest.approx(pairs, abs=1))


@pytest.mark.parametrize("window", [0.04, 1.0])
@pytest.mark.parametrize("share", [1.0, 0.3, 0.01])
def test_the_washout_bounds_the_bias_of_every_declared_response(window, share):
    """Numerically, for a rate that begins ten times as high and falls exponentially in its log."""
    tolerance = 0.001
    washout = compute_washout(window, tolerance)
    constant = share * max(RESPONSE_SECONDS, window / 8)
    shortest = (1 - JITTER) * window
    at = washout + (np.arange(1000) + 0.5) / 1000 * shortest
    bias = float(np.mean(math.log(10) * np.exp(-at / constant)))
    assert bias <= tolerance * 1.001
    if share == 1.0:
        assert bias == pytest.approx(tolerance, rel=0.01)


@pytest.mark.parametrize(
    ("rounds", "blocks"),
    [([(24, 40, 2)], 20), ([(24, 40, 1), (200, 100, 5)], 20), ([(5, 12, 1)], 12)],
)
def test_plans_of_earlier_versions_keep_their_blocks(rounds, blocks):
    plans = [EarlierPlan(0.1, {}, 0.001, *own) for own in rounds]
    assert count_earlier_blocks(plans) == blocks
