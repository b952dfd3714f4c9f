"""Tests of the node that simulates host, scheduler and drive."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.errors import SettingError, TargetError
from iostudy.node.protocol import TrialResult
from iostudy.node.simulated import DEVICE, SimulatedNode
from iostudy.node.simulated_setup import build_setup
from iostudy.study.model import Study
from iostudy.study.parser import parse
from iostudy.study.targets import SimulatedTarget
from iostudy.workloads.workload import continue_run

TEXT = """\
question: Which?
target: {drive: {model: ultrastar-7k8, size: 8GiB, simulated: true}}
factors: {block.scheduler: [noop, cfq]}
workloads:
  - dfsio-read: {files: 3, size: 16MiB}
  - dfsio-write: {files: 2, size: 16MiB}
  - events: {jobs: 2, events: 3, compute: 5ms}
  - io: {jobs: 2, size: 16MiB, order: random, record_size: 16KiB, operation: mix, duration: 1s}
"""


@pytest.fixture
def study() -> Study:
    return parse(TEXT, where="study.yaml", name="study")


@pytest.fixture
def node(study: Study) -> SimulatedNode:
    assert isinstance(study.target, SimulatedTarget)
    return SimulatedNode(study.target, continue_run)


def trial(node: SimulatedNode, study: Study, workload: int, level: int, seed: int) -> TrialResult:
    with node.block(study.workloads[workload], seed) as block:
        return block.trial(study.configurations()[level])


@pytest.mark.parametrize("workload", range(4))
def test_every_workload_has_its_figures(node: SimulatedNode, study: Study, workload: int):
    result = trial(node, study, workload, 0, seed=1)
    request = study.workloads[workload]
    assert result.figures[request.figure.name] > 0
    assert result.settings == {f"block.scheduler@{DEVICE}": "noop"}
    assert result.telemetry.summary.devices[DEVICE]["%util"] > 0
    assert any("predicted" in note for note in result.notes)


def test_equal_seeds_give_equal_figures_and_others_do_not(node: SimulatedNode, study: Study):
    first, again, other = (trial(node, study, 0, 0, seed).figures for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_read_moves_every_byte_from_the_disk(node: SimulatedNode, study: Study):
    figures = trial(node, study, 0, 0, seed=1).telemetry.summary.devices[DEVICE]
    assert figures["kB_read"] == 3 * 16 * 1024


def test_idling_serves_streams_better_than_the_order_of_arrival(node: SimulatedNode, study: Study):
    noop, cfq = (trial(node, study, 0, level, seed=1).figures["aggregate"] for level in (0, 1))
    assert cfq > 1.5 * noop


def test_a_tunable_that_a_scheduler_lacks_is_refused(study: Study, node: SimulatedNode):
    lacking = study.configurations()[1]
    lacking = replace(lacking, settings={**lacking.settings, "block.cfq.group_isolation": "1"})
    refused = node.preflight(study.workloads, [study.configurations()[0], lacking])
    assert list(refused) == [lacking.label]
    assert isinstance(refused[lacking.label], SettingError)


def test_files_larger_than_the_drive_are_refused(study: Study):
    small = SimulatedNode(SimulatedTarget("ultrastar-7k8", 32 << 20), continue_run)
    with pytest.raises(TargetError, match="MiB"):
        small.preflight(study.workloads, study.configurations())


def test_old_and_new_block_layers_have_their_own_defaults():
    def setup(scheduler: str):
        return build_setup({"block.scheduler": scheduler}, rotational=True, depth=32, seed=0)

    assert [setup(name).nr_requests for name in ("cfq", "bfq", "none")] == [128, 64, 32]
    assert [setup(name).max_sectors_kb for name in ("noop", "mq-deadline")] == [512, 1280]
