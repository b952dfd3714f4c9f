"""Dirty pages relative to the kernel's limits, and memory reclaim."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iostudy.telemetry.memory import compute_memory_figures
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.telemetry.samples import Samples

NAN = math.nan
SECONDS = np.array([0.0, 1.0, 2.0, 4.0])


def figures(**columns):
    whole = {f"vm.{name}": np.array(values, float) for name, values in columns.items()}
    return compute_memory_figures(Samples(SECONDS, {"vm.page_kb": np.full(4, 4.0)} | whole))


def dirty(pages, limit=(400,) * 4, background=(200,) * 4):
    return figures(
        nr_dirty=pages,
        nr_writeback=[0, 100, 0, 0],
        nr_dirty_threshold=limit,
        nr_dirty_background_threshold=background,
    )


def test_writers_are_paused_from_half_way_between_both_limits_on():
    # The ceiling is 300 pages; the last value is held for no time.
    summary = dirty([0, 200, 299, 400])
    assert summary["%throttled"] == pytest.approx(25)
    assert summary["%dirty"] == pytest.approx(100 * (0 + 1 + 2 * 299 / 300) / 4)
    assert summary["dirty_kB"] == pytest.approx(4 * (0 + 200 + 2 * 299) / 4)
    assert summary["dirty_max_kB"] == 1600
    assert summary["writeback_kB"] == pytest.approx(100)
    assert summary["dirty_limit_kB"] == 1600


def test_a_limit_that_is_changed_in_mid_recording_counts_from_then_on():
    assert dirty([250] * 4, limit=[400, 400, 200, 200])["%throttled"] == pytest.approx(75)


def test_limits_of_nothing_pause_whoever_writes():
    assert dirty([0, 10, 0, 10], limit=[0] * 4, background=[0] * 4)["%throttled"] == 25


def test_samples_in_which_they_are_missing_do_not_count():
    assert dirty([0, 200, NAN, 400])["%throttled"] == pytest.approx(50)


def test_without_dirty_limits_dirty_memory_is_known():
    summary = figures(nr_dirty=[1, 1, 1, 1], nr_writeback=[0, 0, 0, 0])
    assert set(summary) == {"dirty_kB", "dirty_max_kB", "writeback_kB"}


def test_rates_are_over_the_time_in_which_they_are_known():
    summary = figures(
        pgscan_direct=[10, 30, NAN, 70], oom_kill=[1, 1, 2, 3], pgmajfault=[0, 4, 8, 8]
    )
    assert summary == {"pgscan_direct/s": 20, "oom_kills": 2, "majflt/s": 2}


def test_minimum_of_available_memory():
    columns = {"memory.available_kb": np.array([500.0, 20.0, NAN, 300.0])}
    assert compute_memory_figures(Samples(SECONDS, columns)) == {"available_min_kB": 20}


def test_this_machine_has_all_memory_figures(tmp_path):
    recorder = ProcRecorder([], hz=100)
    recorder.start()
    (tmp_path / "written").write_bytes(bytes(8 << 20))
    machine = recorder.stop().summary.machine
    assert machine["dirty_max_kB"] > 0
    assert machine["available_min_kB"] > 0
    assert 0 <= machine["%throttled"] <= 100
    assert machine["dirty_limit_kB"] >= 0
    assert {"pgscan_direct/s", "allocstall/s", "majflt/s", "oom_kills", "load"} <= set(machine)
