"""A recording across a suspend, and with a gap."""

from __future__ import annotations

import numpy as np
import pytest

from iostudy.telemetry.processors import compute_clock_figures
from iostudy.telemetry.recorder import ProcRecorder
from iostudy.telemetry.samples import Samples


def figures(boottime):
    columns = {"clock.boottime_ns": np.array(boottime)}
    return compute_clock_figures(Samples(np.array([0.0, 0.1, 0.5]), columns))


def test_clock_difference_is_a_suspend():
    at = 5e15
    clock_figures = figures([at, at + 0.1e9, at + 60.5e9])
    assert clock_figures == {"samples": 3, "longest_gap_s": pytest.approx(0.4), "suspended_s": 60}


def test_clocks_that_are_read_one_after_the_other_do_not_suspend():
    assert figures([0.0, 0.1e9, 0.5e9 + 30_000])["suspended_s"] == 0
    assert figures([0.0, 0.1e9, 0.5e9 - 30_000])["suspended_s"] == 0


def test_this_machine_was_awake():
    recorder = ProcRecorder([], hz=100)
    recorder.start()
    machine = recorder.stop().summary.machine
    assert machine["suspended_s"] == 0
    assert machine["samples"] >= 2
