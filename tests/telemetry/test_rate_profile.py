"""A drop of a device's rate to a floor, and stalls."""

from __future__ import annotations

import numpy as np
import pytest

from iostudy.telemetry.figures import summarize_samples
from iostudy.telemetry.samples import Samples
from tests.telemetry.test_iostat import COUNTERS

STEP = 0.1


def profile(rates, *, in_flight=4.0, steal=0.0):
    """The figures of a disk with so many reads of 4 KiB in each tenth of a second."""
    count = len(rates) + 1
    reads = np.concatenate(([0.0], np.cumsum(rates)))
    columns = {f"disk.sda.{name}": np.zeros(count) for name in COUNTERS}
    columns |= {
        "disk.sda.reads": reads,
        "disk.sda.sectors_read": 8 * reads,
        "disk.sda.in_flight": np.full(count, in_flight),
        "disk.sda.number": np.full(count, 8.0),
    }
    ticks = np.arange(count) * 10.0
    idle = dict.fromkeys(("nice", "system", "irq", "softirq", "iowait", "idle"), np.zeros(count))
    columns |= {f"cpu.{name}": values for name, values in idle.items()}
    columns |= {"cpu.user": (1 - steal) * ticks, "cpu.steal": steal * ticks}
    return summarize_samples(Samples(np.arange(count) * STEP, columns)).devices["sda"]


def shaken(rates, relative=0.05):
    return np.asarray(rates) * np.random.default_rng(1).normal(1, relative, len(rates))


def test_a_burst_and_then_a_floor():
    found = profile(shaken([100] * 20 + [20] * 30))
    assert found["%floor"] == pytest.approx(60, abs=4)
    assert found["floor_kB/s"] == pytest.approx(4 * 20 / STEP, rel=0.05)
    assert found["%stalled"] == 0


@pytest.mark.parametrize(
    "rates",
    [
        shaken([100] * 50),
        shaken([100] * 50, 0.3),
        shaken([20] * 20 + [100] * 30),
        shaken([100] * 20 + [80] * 30),
        np.tile([100.0, 20.0], 25),
        np.concatenate((np.full(20, 100.0), np.tile([5.0] * 5 + [45.0] * 5, 3))),
    ],
    ids=["constant", "noisy", "rise", "small drop", "alternating", "drop to an unsteady rate"],
)
def test_no_floor(rates):
    assert "%floor" not in profile(rates)


def test_stalls_are_times_with_requests_and_without_completions():
    rates = [100.0] * 10 + [0.0] * 5 + [100.0] * 20 + [5.0] * 5 + [100.0] * 10
    assert profile(rates)["%stalled"] == pytest.approx(20)


def test_an_idle_device_does_not_stall():
    assert profile([100.0] * 10 + [0.0] * 5 + [100.0] * 20, in_flight=0.0)["%stalled"] == 0


def test_a_machine_that_did_not_run_does_not_stall_its_device():
    rates = [100.0] * 10 + [0.0] * 5 + [100.0] * 20
    assert profile(rates, steal=0.5)["%stalled"] == 0


def test_single_slow_requests_are_no_stalls():
    assert profile([100.0, 100.0, 100.0, 0.0] * 10)["%stalled"] == 0


def test_stalls_before_a_floor_are_relative_to_the_rate_before_it():
    rates = [100.0] * 10 + [0.0] * 3 + [100.0] * 17 + [15.0] * 30
    found = profile(rates)
    assert found["%floor"] == pytest.approx(50, abs=4)
    assert found["%stalled"] == pytest.approx(5)


def test_a_short_recording_has_no_shape():
    assert not profile([100.0] * 15).keys() & {"%floor", "%stalled"}
