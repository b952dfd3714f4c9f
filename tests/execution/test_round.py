"""Windows of one round on a simulated run: washouts, and the discarded window at its start."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from iostudy.analysis.switchback.window_plan import WindowPlan
from iostudy.execution.switchback.measure import measure_round
from iostudy.node.fake_run import NO_RESPONSE, FakeRun
from iostudy.study.parser import parse
from iostudy.study.switchback import draw_order
from iostudy.telemetry.recorder import Telemetry
from iostudy.telemetry.samples import Samples
from iostudy.telemetry.summary import TelemetrySummary
from tests.study.test_switchback import IO, TEXT

WINDOW = 0.2
PLAN = WindowPlan(
    window_seconds=WINDOW,
    washout_seconds={"none": 0.02, "kyber": 0.5, "bfq": 3.0},
    bias=0.0,
    deviation=0.1,
    round_seconds=5.0,
    needed_rounds=20,
    affordable_rounds=40,
    averaged_rounds=1,
)


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


def test_the_first_configuration_runs_for_one_discarded_window_more(run):
    """Its window then follows itself; without that period it would follow the round before."""
    order = ("kyber", "bfq", "none")
    counts = measure_round(run, order, PLAN).counts
    assert [label for label, _ in run.switches] == list(order)
    assert [label for label, *_ in run.windows] == list(order)
    waited = {
        label: start - switched
        for (label, start, _), (_, switched) in zip(run.windows, run.switches, strict=True)
    }
    assert waited == pytest.approx({"kyber": 0.5 + WINDOW, "bfq": 3.0, "none": 0.02})
    assert [own.window.end - own.window.start for own in counts] == pytest.approx([WINDOW] * 3)


def test_no_configuration_is_switched_during_a_window(run):
    measure_round(run, ("none", "bfq", "kyber"), PLAN)
    for (_, _, end), (_, switched) in zip(run.windows, run.switches[1:], strict=False):
        assert switched >= end


def test_each_configuration_precedes_each_equally_often():
    """The discarded window makes the first configuration of a round precede itself."""
    study = parse(
        TEXT.replace("MODE", "auto").replace("WORKLOAD", "{" + IO + "}"), where="s", name="s"
    )
    labels, rounds = ("none", "kyber", "bfq"), 3000
    followed = Counter()
    for number in range(rounds):
        order = draw_order(study, study.workloads[0], 1, (1, number), labels)
        followed.update(pairwise((order[0], *order)))
    assert len(followed) == len(labels) ** 2
    expected, error = rounds / 3, (rounds / 3 * 2 / 3) ** 0.5
    assert all(abs(count - expected) < 4 * error for count in followed.values())
