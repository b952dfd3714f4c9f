"""Shares of CPU time, in total and of the busiest processor."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iostudy.telemetry.processors import (
    compute_busiest_core,
    compute_cpu_shares,
    compute_processor_figures,
)
from iostudy.telemetry.samples import Samples


def test_cpu_shares_count_interrupts_as_system_and_add_up():
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    moved = dict(zip(names, (10, 0, 5, 70, 5, 2, 3, 5), strict=True))
    shares = compute_cpu_shares(moved)
    assert shares["%system"] == pytest.approx(10)
    assert shares["%steal"] == pytest.approx(5)
    assert sum(shares.values()) == pytest.approx(100)


def test_without_ticks_there_are_no_shares():
    assert compute_cpu_shares({}) == {}


def test_iowait_that_goes_back_costs_no_other_share():
    ticks = {"user": [0, 30], "system": [0, 10], "idle": [0, 60], "iowait": [9, 7]}
    states = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    columns = {f"cpu.{name}": np.array(ticks.get(name, [0, 0]), float) for name in states}
    figures = compute_processor_figures(Samples(np.array([0.0, 1.0]), columns))
    assert (figures["%user"], figures["%iowait"], figures["%idle"]) == (30, 0, 60)


def test_a_core_with_decreasing_idle_time_has_a_share():
    assert compute_busiest_core(np.array([0.0, 1.0]), [core([0, 100], [50, 49])]) == 100


def core(busy, idle, steal=None):
    steal = np.zeros(len(busy)) if steal is None else steal
    return {"busy": np.array(busy, float), "idle": np.array(idle, float), "steal": steal}


def test_a_thread_that_wanders_keeps_a_core_busy_in_every_window():
    seconds = np.array([0.0, 0.5, 1.0])
    cores = [core([0, 50, 50], [0, 0, 50]), core([0, 0, 50], [0, 50, 50])]
    assert compute_busiest_core(seconds, cores) == pytest.approx(100)


def test_windows_are_not_so_short_that_ticks_are_coarse():
    seconds = np.arange(11) / 10
    # One tick of 10 ms in every second interval: a tenth of the time, never all of it.
    busy = np.cumsum([0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0])
    assert compute_busiest_core(seconds, [core(busy, np.arange(11) * 10 - busy)]) == pytest.approx(
        5, abs=1
    )


def test_the_rest_of_a_second_belongs_to_the_last_window():
    seconds = np.array([0.0, 0.5, 0.6])
    assert compute_busiest_core(seconds, [core([0, 25, 30], [0, 25, 30])]) == pytest.approx(50)
    assert compute_busiest_core(seconds[:2] / 5, [core([0, 5], [0, 5])]) == pytest.approx(50)


def test_a_processor_that_is_switched_off_for_a_while_does_not_count_then():
    seconds = np.array([0.0, 1.0, 2.0])
    cores = [core([0, 100, math.nan], [0, 0, math.nan]), core([0, 0, 20], [0, 100, 180])]
    assert compute_busiest_core(seconds, cores) == pytest.approx((100 + 20) / 2)
    assert math.isnan(compute_busiest_core(seconds, [core([math.nan] * 3, [0, 1, 2])]))


def test_stolen_time_is_not_work():
    stolen = core([0, 10], [0, 30], np.array([0.0, 60.0]))
    assert compute_busiest_core(np.array([0.0, 1.0]), [stolen]) == pytest.approx(10)


def test_tasks_and_load_are_means_over_time():
    columns = {
        "tasks.running": np.array([1.0, 3.0, 9.0]),
        "tasks.blocked": np.array([0.0, 2.0, 9.0]),
        "load.one_hundredths": np.array([150.0, 250.0, 999.0]),
    }
    figures = compute_processor_figures(Samples(np.array([0.0, 1.0, 2.0]), columns))
    assert figures == {"running": 2, "blocked": 1, "load": 2}
