"""Tests of the node that simulates host, scheduler and drive."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import SettingError, TargetError, WorkloadStoppedError
from iostudy.node.protocol import TrialResult
from iostudy.study.model import Study
from iostudy.study.parser import parse
from iostudy.workloads import catalog
from iostudy.workloads.measurement import BYTES, Histogram
from iostudy.workloads.tick import continue_run
from iostudy.workloads.workload import Place
from iostudy_lab.simulation.host import SimulatedHost
from iostudy_lab.simulation.hosts import HostTask, run_on_hosts, start_processes
from iostudy_lab.simulation.node import DEVICE, SimulatedNode
from iostudy_lab.simulation.setup import build_setup
from iostudy_lab.study.target import SimulatedTarget

TEXT = """\
question: Which?
target: {drive: {model: ultrastar-7k8, size: 8GiB, simulated: true}}
factors: {block.scheduler: [noop, cfq]}
workloads:
  - dfsio-read: {files: 3, size: 16MiB}
  - dfsio-write: {files: 2, size: 16MiB}
  - events: {jobs: 2, events: 3, compute: 5ms}
  - io: {jobs: 2, size: 16MiB, order: random, record_size: 16KiB, operation: mix, duration: 1s}
  - teragen: {rows: 100k}
  - terasort: {rows: 300k, memory: 24MiB, reducers: 3}
  - teravalidate: {rows: 100k}
  - wordcount: {size: 24MiB, memory: 4MiB}
  - nnbench: {threads: 3, files: 400, bytes_to_write: 5KiB, files_per_directory: 500}
  - mix:
      workloads:
        reader: {dfsio-read: {files: 1, size: 64MiB}}
        writer: {dfsio-write: {files: 1, size: 4MiB}}
  - mrbench: {jobs: 3, maps: 2, reduces: 2, input_lines: 3000}
  - nnbench: {label: durable nnbench, threads: 2, files: 20, bytes_to_write: 5KiB, sync: directory}
"""
MRBENCH, DURABLE = 10, 11


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


@pytest.mark.parametrize("workload", range(12))
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


@pytest.mark.parametrize(
    "workload", [*range(4, 9), pytest.param(MRBENCH, marks=pytest.mark.child), DURABLE]
)
def test_simulated_jobs_make_the_calls_of_the_engines(
    node: SimulatedNode, study: Study, workload: int, tmp_path: Path
):
    request = study.workloads[workload]
    engine = catalog.get(request.name).make(request.options)
    place = Place(tmp_path, seed=1)
    engine.prepare(place)
    engine.reset(place)
    measured, predicted = engine.run(place), trial(node, study, workload, 0, seed=1)
    assert set(predicted.figures) == set(measured.figures)
    assert predicted.latencies.keys() == measured.latencies.keys()
    for operation, histogram in measured.latencies.items():
        found = _count(predicted.latencies[operation])
        assert found == pytest.approx(_count(histogram), rel=0.05), operation
    if BYTES in measured.figures:
        assert predicted.figures[BYTES] == pytest.approx(measured.figures[BYTES], rel=0.02)


def _count(histogram: Histogram) -> int:
    return sum(count for _, count in histogram)


def test_members_of_a_mix_share_the_drive(node: SimulatedNode, study: Study):
    mixed, alone = trial(node, study, 9, 0, seed=1).figures, trial(node, study, 0, 0, seed=1)
    assert mixed["writer.rounds"] >= 2
    assert mixed["overlap"] == 100
    assert mixed[BYTES] > mixed["reader.bytes"] + mixed["writer.bytes"]
    # The writer disturbs a reader, though three readers share the drive in the other workload.
    assert mixed["reader.aggregate"] < alone.figures["aggregate"] * 3
    options = study.workloads[9].options
    assert set(mixed) == {each.name for each in catalog.get("mix").figures(options)}


def test_phases_of_metadata_reach_the_drive(node: SimulatedNode, study: Study):
    figures = trial(node, study, 8, 0, seed=1).telemetry.summary.devices[DEVICE]
    data = 3 * 400 * 8
    assert figures["kB_read"] == 0
    assert data < figures["kB_wrtn"] < 1.3 * data
    assert figures["f/s"] > 0


def test_each_durable_change_is_flushed_and_threads_share_commits(
    node: SimulatedNode, study: Study
):
    result = trial(node, study, DURABLE, 0, seed=1)
    telemetry = result.telemetry.summary.devices[DEVICE]
    flushes = telemetry["f/s"] * result.phases["run"]
    # Two threads create, rename and delete 20 files each; a commit has two flushes.
    changes = 2 * 3 * 20
    assert changes <= flushes < 2 * changes


def test_mrbench_without_fsync_writes_nothing_before_its_end(node: SimulatedNode, study: Study):
    request = study.workloads[MRBENCH]
    relaxed = replace(request, options=request.options.model_copy(update={"fsync": False}))
    durable = trial(node, study, MRBENCH, 0, seed=1)
    with node.block(relaxed, 1) as block:
        cached = block.trial(study.configurations()[0])
    assert cached.telemetry.summary.devices[DEVICE]["kB_wrtn"] == 0
    assert durable.telemetry.summary.devices[DEVICE]["kB_wrtn"] > 0
    assert durable.figures["job_time"] > cached.figures["job_time"] + 0.05
    assert cached.figures["start_share"] > 50 > durable.figures["start_share"]


def test_idling_serves_streams_better_than_the_order_of_arrival(node: SimulatedNode, study: Study):
    noop, cfq = (trial(node, study, 0, level, seed=1).figures["aggregate"] for level in (0, 1))
    assert cfq > 1.5 * noop


def test_both_versions_of_cfq_are_simulated(node: SimulatedNode, study: Study):
    new = study.configurations()[1]
    old = replace(new, settings={"block.scheduler": "cfq-2.6.32", "block.cfq.slice_idle": "0"})
    lacking = replace(old, settings={**old.settings, "block.cfq.group_idle": "0"})
    assert not node.preflight(study.workloads, [old])
    assert node.preflight(study.workloads, [lacking])
    with node.block(study.workloads[0], 1) as block:
        rates = [block.trial(each).figures["aggregate"] for each in (new, old)]
    # Without idling, a stream loses its place on the disk after each of its requests.
    assert rates[1] < rates[0] / 1.5


HOSTS = SimulatedTarget("ultrastar-7k8", 8 << 30, hosts=5)


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with start_processes() as processes:
        yield processes


def task(study: Study, workload: int) -> HostTask:
    request = study.workloads[workload]
    host = SimulatedHost(HOSTS)
    options = request.options.model_dump_json()
    return HostTask(host, request.name, options, {"block.scheduler": "cfq"}, "cfq", 7)


@pytest.mark.child
@pytest.mark.parametrize("workload", [0, 9])
def test_several_hosts_give_their_means_however_they_are_divided(
    study: Study, processes: ProcessPoolExecutor, workload: int
):
    own = task(study, workload)
    alone = [own.run(number, continue_run) for number in range(5)]
    figure = study.workloads[workload].figure.name
    rates = [run.measured.figures[figure] for run in alone]
    assert len(set(rates)) > 1
    results = [
        run_on_hosts(own, 5, processes, continue_run, shard_hosts=size) for size in (1, 2, 5)
    ]
    for result in results:
        assert result.measured.figures == results[0].measured.figures
        assert result.measured.latencies == results[0].measured.latencies
        assert result.counters == results[0].counters
        assert result.measured.figures[figure] == statistics.fmean(rates)
    pooled = results[0].measured.latencies
    for operation, histogram in pooled.items():
        assert _count(histogram) == sum(_count(run.measured.latencies[operation]) for run in alone)


@pytest.mark.child
def test_a_tick_stops_the_hosts(study: Study, processes: ProcessPoolExecutor):
    with pytest.raises(WorkloadStoppedError):
        run_on_hosts(task(study, 3), 50, processes, lambda _: False)


STARTS = """\
import os, time
from iostudy_lab.simulation.hosts import start_processes
if __name__ == "__main__":
    print(start_processes().submit(os.getpid).result(), flush=True)
    time.sleep(60)
"""


@pytest.mark.child
def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path):
    script = tmp_path / "starts.py"
    script.write_text(STARTS)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        process = Path("/proc", parent.stdout.readline().strip(), "stat")
        assert process.exists()
        parent.kill()
    with suppress(FileNotFoundError):
        while process.read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.05)


@pytest.mark.child
def test_an_error_of_a_host_is_that_of_the_trial(study: Study, processes: ProcessPoolExecutor):
    own = replace(task(study, 0), host=SimulatedHost(replace(HOSTS, size_bytes=32 << 20)))
    with pytest.raises(TargetError, match="larger size of the drive"):
        run_on_hosts(own, 3, processes, continue_run)


@pytest.mark.child
def test_a_node_of_several_hosts_runs_trials_on_all(study: Study):
    with SimulatedNode(HOSTS, continue_run) as node:
        several = trial(node, study, 0, 1, seed=7)
    with SimulatedNode(replace(HOSTS, hosts=1), continue_run) as node:
        single = trial(node, study, 0, 1, seed=7)
    assert several.figures["bytes"] == single.figures["bytes"]
    assert several.figures["aggregate"] != single.figures["aggregate"]
    assert several.notes == single.notes


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
