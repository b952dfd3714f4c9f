"""NNThroughputBenchmark itself, each operation in a Java of its own, and logs that fail."""

from __future__ import annotations

import math
import subprocess

import pytest

from iostudy.errors import WorkloadError, WorkloadStoppedError
from iostudy.workloads.workload import Place
from iostudy_hadoop.workloads.nnthroughput import HADOOP_NNTHROUGHPUT

FILES = 500
# Each starts a name-node for every operation, which takes seconds.
pytestmark = pytest.mark.slow


@pytest.fixture
def place(tmp_path, java, distribution, monkeypatch):
    """A target, when Java and Hadoop are at hand."""
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    target = tmp_path / "target"
    target.mkdir()
    return Place(target, seed=1)


def carried_out(place, **options):
    small = {"files": FILES, "threads": 8, "limit": "5min", "heap": "1GiB"}
    definition = HADOOP_NNTHROUGHPUT
    workload = definition.make(definition.options.model_validate(small | options))
    try:
        workload.check()
        workload.prepare(place)
        return workload, workload.run(place)
    finally:
        workload.clean(place)
        assert not list(place.directory.iterdir())


def test_every_operation_has_its_figures_and_all_logs_are_removed(place, tmp_path):
    elsewhere = tmp_path / "disk2"
    elsewhere.mkdir()
    (elsewhere / "of somebody else").touch()
    operations = ("create", "open", "rename", "delete", "mkdirs", "file-status")
    logs = ["log", str(elsewhere)]
    workload, measured = carried_out(place, operations=operations, logs=logs)
    figures = HADOOP_NNTHROUGHPUT.figures(workload.options)
    assert sorted(measured.figures) == sorted(figure.name for figure in figures)
    assert all(math.isfinite(value) for value in measured.figures.values())
    assert all(measured.figures[f"{each}_rate"] > 0 for each in operations)
    # No more than there are threads, but for directories and what is cleaned up.
    assert 1 <= measured.figures["create_per_sync"] <= 8 + 1
    assert [path.name for path in elsewhere.iterdir()] == ["of somebody else"]


def test_the_benchmark_runs_with_every_edit_log_layout(place):
    _, measured = carried_out(place, operations="create", sync="dsync", asynchronous=False)
    assert measured.figures["create_rate"] > 0


def test_a_tick_that_says_no_stops_it(place):
    stopped = Place(place.directory, place.seed, lambda _: False)
    with pytest.raises(WorkloadStoppedError):
        carried_out(stopped, operations="create")


@pytest.fixture
def small(tmp_path):
    """A directory in memory with 80 MiB of room."""
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=80m", "small", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.root
def test_failed_thread_is_reported_while_the_benchmark_hangs(place, small):
    """Without 100 MiB that are free, a name-node goes into safe mode; it looks every 5 s."""
    with pytest.raises(WorkloadError, match="SafeModeException"):
        carried_out(Place(small, place.seed), operations="create", files=400_000, threads=256)


@pytest.mark.root
def test_a_log_directory_that_fills_up_is_an_error_although_another_is_left(place, small):
    (small / "of somebody else").write_bytes(bytes(70 << 20))
    with pytest.raises(WorkloadError, match="No space left on device"):
        carried_out(place, operations="create", logs=f"log, {small}", files=100_000, threads=256)
    assert [path.name for path in small.iterdir()] == ["of somebody else"]
