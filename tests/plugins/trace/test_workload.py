"""Tests of the replay of a trace on a simulated drive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from iostudy._native import DriveModel, SimulatedDisk, TraceReplay
from iostudy.errors import UsageError, WorkloadError
from iostudy.job import SimulationSetup, TracedBio
from iostudy.workloads.catalog import get
from iostudy.workloads.measurement import Measurement
from iostudy.workloads.workload import Place
from iostudy_lab.drives import drive_file
from iostudy_lab.drives.presets import load
from iostudy_lab.simulation.disk import SimulatedFiles, SimulatedMachine
from iostudy_trace.events import BlockEvent
from iostudy_trace.trace_file import write_trace
from tests.plugins.trace.rows import batch, row

MS = 1_000_000
SETUP = SimulationSetup("none", True, 1, 64, 1024)


def reads(device: str = "sda", count: int = 20) -> Iterator[BlockEvent]:
    """A thread that reads at random places, 5 ms after each completion."""
    for index in range(count):
        sector, start = index * 7919 % 1000 * 8000, 10 * index * MS
        yield row(start, "block_bio_queue", sector, device=device)
        yield row(start + 1, "block_rq_issue", sector, device=device)
        yield row(start + 5 * MS, "block_rq_complete", sector, device=device)


def write(path: Path, events: Sequence[BlockEvent]) -> Path:
    with path.open("wb") as file:
        write_trace([batch(events)], file)
    return path


def disk() -> SimulatedDisk:
    return SimulatedDisk(DriveModel(drive_file.parameters(load("ultrastar-7k8"))), 0)


def run(path: Path, **options: str) -> Measurement:
    definition = get("trace")
    workload = definition.make(definition.options.model_validate({"file": str(path), **options}))
    machine = SimulatedMachine(SimulatedFiles(disk()), SETUP)
    return workload.run(Place(path.parent, 1, machine=machine))


def test_a_replay_has_all_figures_and_keeps_think_times(tmp_path: Path):
    measured = run(write(tmp_path / "trace", list(reads())))
    definition = get("trace")
    figures = definition.figures(definition.options.model_validate(definition.example))
    assert set(measured.figures) == {figure.name for figure in figures}
    assert measured.figures["bios"] == 20
    assert measured.figures["bytes"] == 20 * 4096
    assert measured.figures["exec_time"] > 19 * 0.005
    assert measured.figures["latency_max"] > 1000
    assert measured.notes == ("20 bios of 1 threads were replayed",)
    assert list(measured.latencies) == ["read"]


def test_one_of_several_devices_is_replayed(tmp_path: Path):
    path = write(tmp_path / "trace", sorted([*reads("sda"), *reads("sdb", 5)]))
    assert run(path, device="sdb").figures["bios"] == 5
    with pytest.raises(WorkloadError, match="bios of sda, sdb"):
        run(path)
    with pytest.raises(WorkloadError, match="bios of sda, sdb"):
        run(path, device="sdc")


def test_a_file_that_is_no_trace_is_refused(tmp_path: Path):
    (tmp_path / "other").write_text("no trace")
    with pytest.raises(UsageError, match="has written"):
        run(tmp_path / "other")


def test_a_position_beyond_the_drive_is_an_error_that_says_so(tmp_path: Path):
    events = [
        row(0, "block_bio_queue", 1 << 40),
        row(1, "block_rq_issue", 1 << 40),
        row(2, "block_rq_complete", 1 << 40),
    ]
    with pytest.raises(WorkloadError, match="the drive refused a request"):
        run(write(tmp_path / "trace", events))


def test_it_runs_on_no_host():
    definition = get("trace")
    workload = definition.make(definition.options.model_validate(definition.example))
    with pytest.raises(UsageError, match="a simulated drive for a trace"):
        workload.check()
    with pytest.raises(RuntimeError, match="on a simulated disk only"):
        TraceReplay([]).run()


def test_a_flush_writes_the_cache_of_the_drive():
    write = TracedBio(0, 2048, is_read=False, is_sync=True, flushes=False, after=0, delay_ns=0)
    flush = TracedBio(0, 0, is_read=False, is_sync=True, flushes=True, after=1, delay_ns=0)
    without, _ = disk().replay_trace(TraceReplay([[write]]), SETUP)
    result, counters = disk().replay_trace(TraceReplay([[write, flush]]), SETUP)
    assert dict(counters)["flushes"] == 1
    assert result.seconds > without.seconds + 0.001


def test_the_trace_is_compared_by_size_and_time(tmp_path: Path) -> None:
    path = write(tmp_path / "trace.parquet", list(reads()))
    definition = get("trace")
    workload = definition.make(definition.options.model_validate({"file": str(path)}))
    ((name, before),) = workload.contents()
    assert name == str(path)
    write(path, list(reads(count=21)))
    assert list(workload.contents()) != [(name, before)]
