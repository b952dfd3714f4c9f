"""Test of windows for responses that have not settled."""

from __future__ import annotations

import numpy as np
import pytest

from iostudy.analysis.switchback.window_plan import TOLERANCE, list_unsettled

MARGIN = 0.05


def increments(change: float, count: int = 40, noise: float = 0.004, seed: int = 1) -> list[float]:
    draw = np.random.default_rng(seed)
    return list(change + noise * draw.standard_normal(count))


def test_a_level_that_changes_within_its_windows_is_found():
    found = {"none": increments(0.0), "slow": increments(0.02), "fast": increments(0.0, seed=2)}
    assert list_unsettled(found, MARGIN, 0.01) == ("slow",)
    falling = {"slow": increments(-0.02)}
    assert list_unsettled(falling, MARGIN, 0.01) == ("slow",)


def test_a_change_within_the_tolerance_does_not_matter():
    assert not list_unsettled({"own": increments(0.9 * TOLERANCE * MARGIN, 4000)}, MARGIN, 0.01)


def test_few_increments_are_not_tested():
    assert not list_unsettled({"slow": increments(0.2, count=7)}, MARGIN, 0.01)
    assert list_unsettled({"slow": increments(0.2, count=8)}, MARGIN, 0.01)


@pytest.mark.parametrize("levels", [1, 5])
def test_the_levels_share_the_risk(levels):
    """Changes at the tolerance: the worst case of what does not matter."""
    limit = TOLERANCE * MARGIN
    found = [
        bool(
            list_unsettled(
                {str(n): increments(limit, 10, seed=10 * study + n) for n in range(levels)},
                MARGIN,
                0.1,
            )
        )
        for study in range(600)
    ]
    assert np.mean(found) < 0.08  # only the outer half of the interval counts
