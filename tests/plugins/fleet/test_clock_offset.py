"""Offset of a clock, and the bound of its error."""

from __future__ import annotations

import random

import pytest

from iostudy_fleet.clock_offset import Exchange, estimate_offset


def make_exchange(offset: float, forth: float, back: float, work: float = 0.001) -> Exchange:
    received = 10.0 + forth + offset
    return Exchange(10.0, received, received + work, 10.0 + forth + work + back)


def test_equal_ways_give_the_offset_exactly():
    found = estimate_offset([make_exchange(7.5, 0.002, 0.002)])
    assert found.seconds == pytest.approx(7.5, abs=1e-9)
    assert found.error == pytest.approx(0.002, abs=1e-9)


@pytest.mark.parametrize("offset", [-3600.0, 0.0, 0.04])
def test_the_true_offset_is_within_the_error_for_any_asymmetry(offset: float):
    chance = random.Random(1)
    for _ in range(1000):
        ways = [(chance.expovariate(200), chance.expovariate(50)) for _ in range(8)]
        found = estimate_offset(make_exchange(offset, *own) for own in ways)
        assert abs(found.seconds - offset) <= found.error + 1e-9


def test_the_shortest_round_trip_decides():
    late, quick = make_exchange(1.0, 0.5, 0.001), make_exchange(1.0, 0.001, 0.001)
    assert estimate_offset([late, quick]) == estimate_offset([quick])


def test_times_are_translated_both_ways():
    found = estimate_offset([make_exchange(7.5, 0.002, 0.002)])
    assert found.to_asker(found.to_other(100.0)) == pytest.approx(100.0)
    assert found.to_other(100.0) == pytest.approx(107.5)
