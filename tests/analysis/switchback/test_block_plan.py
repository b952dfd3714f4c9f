import pytest

from iostudy.analysis.switchback.block_plan import plan_blocks
from iostudy.analysis.switchback.window_plan import WindowPlan


def plan(needed=30, affordable=10_000, averaged=1):
    return WindowPlan(0.1, {}, 0.0, 0.1, 0.5, needed, affordable, averaged)


def test_a_study_has_three_times_the_needed_rounds():
    found = plan_blocks({"io": plan(needed=100)})
    assert found.max_blocks * found.rounds["io"] == pytest.approx(300, abs=found.rounds["io"])
    assert found.max_blocks <= 96


def test_a_quiet_workload_has_forty_rounds():
    assert plan_blocks({"io": plan(needed=2)}).max_blocks == 40


def test_the_time_limits_the_rounds():
    found = plan_blocks({"io": plan(needed=1000, affordable=50)})
    assert 45 <= found.max_blocks * found.rounds["io"] <= 50


def test_each_workload_uses_its_time_whatever_the_others_need():
    plans = {
        "noisy": plan(needed=240, affordable=55, averaged=8),
        "quiet": plan(needed=124, affordable=116, averaged=4),
    }
    found = plan_blocks(plans)
    assert found.max_blocks >= 20
    for label, own in plans.items():
        rounds = found.max_blocks * found.rounds[label]
        assert 0.8 * own.affordable_rounds <= rounds <= own.affordable_rounds


def test_few_affordable_rounds_are_blocks_of_one_round():
    found = plan_blocks({"slow": plan(affordable=12, averaged=5), "fast": plan(needed=100)})
    assert (found.max_blocks, found.rounds["slow"]) == (12, 1)
    assert found.rounds["fast"] == 25


def test_noisy_windows_are_averaged_before_the_logarithm():
    found = plan_blocks({"io": plan(needed=400, averaged=20)})
    assert found.rounds["io"] >= 20
