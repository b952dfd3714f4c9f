"""Aggregate of simultaneous runs on one timeline."""

from __future__ import annotations

import pytest

from iostudy_fleet.clock_offset import ClockOffset
from iostudy_fleet.together.joint_run import NodeRun, join_runs


def make_run(
    node: str, began: float, ended: float, offset: float = 0.0, error: float = 0.001
) -> NodeRun:
    own = ClockOffset(offset, error)
    return NodeRun(node, own.to_other(began), own.to_other(ended), 1000, own, own)


def test_all_bytes_count_from_the_first_start_to_the_last_end():
    joint = join_runs([make_run("a", 0.0, 8.0), make_run("b", 1.0, 10.0)], 0.5)
    assert joint.bytes_per_second == pytest.approx(200.0)
    assert (joint.start_skew, joint.tail_seconds) == pytest.approx((1.0, 2.0))


def test_offsets_of_clocks_change_nothing():
    plain = join_runs([make_run("a", 0.0, 8.0), make_run("b", 1.0, 10.0)], 0.5)
    skewed = join_runs([make_run("a", 0.0, 8.0, 3600.0), make_run("b", 1.0, 10.0, -40.0)], 0.5)
    assert skewed.seconds == pytest.approx(plain.seconds)


def test_the_error_is_that_of_both_ends():
    joint = join_runs([make_run("a", 0, 8, error=0.002), make_run("b", 0, 9, error=0.001)], 0.5)
    assert joint.error == pytest.approx(0.004)


def test_one_node_has_the_time_of_its_own_clock():
    before, after = ClockOffset(10.0, 0.003), ClockOffset(10.002, 0.003)
    joint = join_runs([NodeRun("a", 5.0, 5.004, 1000, before, after)], 0.5)
    assert (joint.seconds, joint.error) == (pytest.approx(0.004), 0.0)
    assert joint.bytes_per_second == pytest.approx(250_000)


def test_stragglers_exceed_the_median_by_the_margin_slowest_first():
    ends = {"a": 10, "b": 10, "c": 10.4, "d": 12, "e": 15}
    runs = [make_run(name, 0, end) for name, end in ends.items()]
    assert join_runs(runs, 0.05).stragglers == ("e", "d")
    assert join_runs(runs, 0.5).stragglers == ()
