"""Windows of a pair of rounds on a simulated run: orders, washouts and lengths."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from iostudy.analysis.switchback.window_plan import HALVES, WindowPlan
from iostudy.execution.switchback.blocks import measure_pair, rehearse
from iostudy.telemetry.recorder import Telemetry
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import TelemetrySummary
from tests.fake_node import NO_RESPONSE, FakeRun

WINDOW, WASHOUT = 0.2, 0.05
PLAN = WindowPlan(WINDOW, WASHOUT, pair_seconds=1.5, pairs=2)
ORDER = ("kyber", "bfq", "none")


@dataclass
class Timed(FakeRun):
    """A run that notes when it switched and which windows were opened."""

    switches: list[tuple[str, float]] = field(default_factory=list)
    windows: list[tuple[str, float, float]] = field(default_factory=list)

    def switch(self, label):
        super().switch(label)
        self.switches.append((label, self.now()))

    def open(self, window):
        super().open(window)
        self.windows.append((self.label, window.start, window.end))


@pytest.fixture
def run():
    return Timed(
        rate=lambda _: 1000.0,
        responses=lambda _: NO_RESPONSE,
        figures=("iops",),
        noise=0.0,
        draw=random.Random(1),
        telemetry=Telemetry(TelemetrySummary(1.0, {}, {}), Samples(np.arange(2.0), {})),
        device="sda",
        label="none",
    )


def test_a_configuration_stays_for_both_of_its_windows_in_the_middle(run):
    halves = measure_pair(run, ORDER, "bfq", PLAN, 1.0)
    assert [label for label, _ in run.switches] == ["kyber", "bfq", "none", "bfq", "kyber"]
    labels = [*ORDER, *reversed(ORDER)]
    assert [own.configuration for own in halves] == [own for own in labels for _ in range(HALVES)]
    assert [own.previous for own in halves] == ["bfq", *(own.configuration for own in halves[:-1])]
    middle = [own.count.window for own in halves if own.configuration == "none"]
    assert all(one.end == other.start for one, other in pairwise(middle))


@pytest.mark.parametrize("length", [0.8, 1.2])
def test_windows_follow_a_washout_and_have_their_length(run, length):
    halves = measure_pair(run, ORDER, "none", PLAN, length)
    first = {label: start for label, start, _ in reversed(run.windows[: 3 * HALVES])}
    for label, switched in run.switches[:3]:
        assert first[label] - switched == pytest.approx(WASHOUT)
    for own in halves:
        assert own.count.window.seconds == pytest.approx(length * WINDOW / HALVES)


def test_no_configuration_is_switched_during_a_window(run):
    measure_pair(run, ORDER, "none", PLAN, 1.0)
    for _, start, end in run.windows:
        assert not any(start < switched < end for _, switched in run.switches)


def test_windows_that_are_requested_too_late_are_requested_again(run, monkeypatch):
    """The process waits for a CPU before the second half: the first one does not count."""
    opened = FakeRun.open
    late = iter([False, True])

    def open_late(self, window):
        if next(late, False):
            self.wait(window.start + 1)
        opened(self, window)

    monkeypatch.setattr(FakeRun, "open", open_late)
    halves = measure_pair(run, ("none",), "none", PLAN, 1.0)
    assert len(halves) == 2 * HALVES
    assert all(one.count.window.end == other.count.window.start for one, other in pairwise(halves))


def test_a_rehearsal_finds_the_slowest_rate_and_the_time_of_a_switch(run):
    run.rate = lambda label: 300.0 if label == "bfq" else 1000.0
    found = rehearse(run, ORDER)
    assert found.operations_per_second == pytest.approx(300)
    assert found.switch_seconds == pytest.approx(0.005)
