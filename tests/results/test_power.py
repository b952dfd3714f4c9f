"""Power estimates, reported once per workload."""

from __future__ import annotations

import pytest

from iostudy.execution.listeners import Listener
from iostudy.ledger.rows import TrialRow, TrialStatus
from iostudy.results.continuation import BlockTime, estimate_block_time
from iostudy.study.combinations import Configuration
from tests.execution.test_runner import conduct
from tests.fake_node import FakeNode


class PowerEstimates(Listener):
    def __init__(self):
        self.estimates = []

    def block_ended(self, progress):
        if progress.power_estimate:
            self.estimates.append((progress.block.index, progress.power_estimate))


def power_estimates(folder, noise):
    listener = PowerEstimates()
    conduct(folder, FakeNode(noise=noise), listeners=[listener])
    return listener.estimates


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        (0.005, "5 blocks, about 15.0 s will probably detect a difference of 3 %"),
        (0.06, "a difference of 3 % may stay inconclusive in 12 blocks, about 36.0 s; "),
        (0.8, "too large to detect any useful difference"),
    ],
)
def test_power_is_reported_after_the_first_look_at_each_workload(tmp_path, noise, words):
    estimates = power_estimates(tmp_path, noise)
    assert [block for block, _ in estimates] == [5, 5]
    assert sorted(text.partition(": noise ")[0] for _, text in estimates) == [
        "file-reads",
        "file-writes",
    ]
    assert all(words in text for _, text in estimates)


def row(block, phases, *, counts=True, workload="read"):
    return TrialRow(
        id=0,
        block=block,
        attempt=1,
        position=1,
        workload=workload,
        configuration="a",
        status=TrialStatus.FINISHED,
        phases=phases,
        counts=counts,
    )


def test_the_preparation_of_a_block_is_counted_once():
    rows = [
        row(1, {"prepare": 6.0, "run": 2.0, "sync": 1.0}),
        row(1, {"run": 3.0, "sync": 1.0}),
        row(2, {"prepare": 4.0, "run": 2.0, "sync": 1.0}),
        row(2, {"run": 1.0, "sync": 1.0}),
        row(2, {"run": 100.0}, counts=False),
        row(1, {"run": 100.0}, workload="write"),
    ]
    assert estimate_block_time("read", rows) == BlockTime(trial_seconds=3.0, plot_seconds=5.0)
    assert estimate_block_time("other", rows) is None


def test_every_file_system_of_a_block_costs():
    plots = [Configuration(name, {}, {}, whole_plot=plot) for name, plot in ["ax", "bx", "cy"]]
    assert BlockTime(trial_seconds=3.0, plot_seconds=5.0).block_seconds(plots) == 19.0
