"""Coverage of intervals over nodes, and the error rates of odd nodes."""

from __future__ import annotations

import pytest

from tests.calibration.fleet_tables import KINDS
from tests.calibration.fleets import RISK, Fleet, cover
from tests.calibration.simulation import standard_error

pytestmark = pytest.mark.campaign

each_size = pytest.mark.parametrize("fleets", [40, pytest.param(1000, marks=pytest.mark.slow)])


def allowed(kind: Fleet, fleets: int) -> float:
    """The risk with three standard errors and what docs/method/calibration.md admits above it."""
    rate = RISK + (0.04 if kind.spread else 0.015)
    return rate + 3 * standard_error(rate, fleets)


@each_size
@pytest.mark.parametrize("kind", [KINDS[5], KINDS[11], KINDS[14]], ids=str)
def test_intervals_over_nodes_contain_the_truth(kind: Fleet, fleets: int) -> None:
    found = cover(kind, fleets)
    for missed in (1 - found.mean, 1 - found.new_node, found.named):
        assert missed <= allowed(kind, fleets)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_intervals_of_every_kind_of_fleet(kind: Fleet) -> None:
    found = cover(kind, 1000)
    for missed in (1 - found.mean, 1 - found.new_node, found.named):
        assert missed <= allowed(kind, 1000)


@each_size
def test_one_bad_disk_of_ten_is_found(fleets: int) -> None:
    assert cover(Fleet(10, tau=0.02, spread=0.3, shift=-0.3), fleets).found > 0.9
