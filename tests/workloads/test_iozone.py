"""iozone's matrix, and what every cell of it really does."""

from __future__ import annotations

import itertools
import statistics
from pathlib import Path
from unittest.mock import Mock, patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from iostudy import units
from iostudy._native import FileJob
from iostudy.errors import WorkloadError, WorkloadStoppedError
from iostudy.workloads.measurement import BYTES
from iostudy.workloads.native.iozone import IOZONE, IozoneOptions
from iostudy.workloads.native.iozone_matrix import (
    IozoneOperation,
    MatrixCell,
    build_cells,
    build_job,
    doubling_sizes,
)
from iostudy.workloads.workload import Place

KIB, MIB = units.KIB, units.MIB


def iozone(**options):
    return IOZONE.make(IOZONE.options.model_validate(options))


def test_the_full_matrix_is_that_of_the_manual():
    options = IozoneOptions.model_validate({"max_file_size": "512MiB", "operations": ["write"]})
    found = {(cell.file_bytes, cell.record_bytes) for cell in options.cells()}
    records = {
        size: [r for f, r in sorted(found) if f == size]
        for size in doubling_sizes(64 * KIB, 512 * MIB)
    }
    assert records[64 * KIB] == [4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB]
    assert (records[16 * MIB][0], records[16 * MIB][-1]) == (4 * KIB, 16 * MIB)
    assert (records[32 * MIB][0], records[512 * MIB][-1]) == (64 * KIB, 16 * MIB)
    assert len(records) == 14
    every = options.model_copy(update={"all_records": True})
    assert MatrixCell(IozoneOperation.WRITE, 512 * MIB, 4 * KIB) in every.cells()


@given(
    st.lists(st.sampled_from(IozoneOperation), min_size=1, unique=True),
    st.integers(min_value=1, max_value=1 << 30),
    st.integers(min_value=1, max_value=1 << 30),
)
def test_no_record_is_larger_than_its_file(operations, file_bytes, record_bytes):
    sizes = (
        doubling_sizes(file_bytes, 8 * file_bytes),
        doubling_sizes(record_bytes, 8 * record_bytes),
    )
    found = list(build_cells(tuple(operations), *sizes, all_records=True))
    assert all(cell.record_bytes <= cell.file_bytes for cell in found)
    expected = sum(f >= r for f, r in itertools.product(*sizes)) * len(operations)
    assert len(found) == len(set(found)) == expected


@pytest.mark.parametrize("operation", IozoneOperation)
def test_an_operation_is_what_its_name_says(operation):
    spec = build_job(MatrixCell(operation, 64 * KIB, 4 * KIB), ("f",), stride=17, seed=1)
    assert (spec.operation == "write") == ("write" in operation)
    assert (spec.order == "random") == operation.startswith("random")
    assert (spec.method == "stdio") == operation.startswith("f")
    assert (spec.method == "psync") == operation.startswith("p")
    assert spec.create == (operation in ("write", "fwrite", "pwrite"))


def test_every_cell_has_its_rate_and_nothing_is_left(tmp_path):
    workload = iozone(max_file_size="128KiB")
    measured = workload.run(Place(tmp_path, seed=3))
    matrix = workload.options.cells()
    labels = [tuple(part.labels.values()) for part in measured.parts]
    assert labels == [
        (str(c.operation), units.format_size(c.file_bytes), units.format_size(c.record_bytes))
        for c in matrix
    ]
    assert all(part.figures["rate"] > 0 for part in measured.parts)
    figures = {figure.name for figure in IOZONE.figures(workload.options)}
    assert set(measured.figures) == figures
    assert measured.figures[BYTES] == sum(cell.file_bytes for cell in matrix)
    rates = [part.figures["rate"] for part in measured.parts]
    assert measured.figures["mean_rate"] == pytest.approx(statistics.geometric_mean(rates))
    assert set(measured.latencies) == set(map(str, IozoneOperation))
    records = sum(c.file_bytes // c.record_bytes for c in matrix if c.operation == "pread")
    assert sum(count for _, count in measured.latencies["pread"]) == records
    assert not list(tmp_path.iterdir())


def test_throughput_mode_reports_every_thread(tmp_path):
    workload = iozone(
        threads=3, min_file_size="1MiB", max_file_size="1MiB", min_record_size="64KiB",
        max_record_size="64KiB", operations="write, read", include_flush=True, include_close=True,
    )  # fmt: skip
    write, read = workload.run(Place(tmp_path, seed=3)).parts
    for part in (write, read):
        device_figures = part.figures
        assert set(device_figures) == {
            figure.name for figure in IOZONE.part_figures(workload.options)
        }
        assert (
            device_figures["min_thread_rate"]
            <= device_figures["mean_thread_rate"]
            <= device_figures["max_thread_rate"]
        )
        assert device_figures["rate"] == pytest.approx(3 * device_figures["mean_thread_rate"])
        assert device_figures["common_rate"] <= device_figures["rate"]
    assert workload.space_bytes() == 3 * MIB


def test_time_includes_flush_only_on_request():
    place = Place(Path("x"), seed=1)
    cell = MatrixCell(IozoneOperation.WRITE, 64 * KIB, 4 * KIB)
    for included, seconds in ((False, 6.0), (True, 14.0)):
        job = Mock(wall_seconds=15.0, thread_phases=[(1.0, 2.0, 4.0, 8.0)])
        with patch("iostudy.workloads.native.iozone.Iozone._job", return_value=job):
            timed = iozone(include_close=included)._time(place, cell, 0)
        assert timed.thread_rates == (64 / seconds,)
    assert iozone()._spec(place, cell).sync is None
    assert iozone(include_flush=True)._spec(place, cell).sync == "fsync"
    assert iozone(sync_writes=True)._spec(place, cell).dsync


def test_a_read_without_a_write_finds_files_all_the_same(tmp_path):
    measured = iozone(operations=["reread", "fread"], max_file_size="64KiB").run(Place(tmp_path, 1))
    assert {part.labels["operation"] for part in measured.parts} == {"reread", "fread"}
    cells = len(measured.parts)
    assert measured.figures[BYTES] == (cells + cells / 2) * 64 * KIB


def test_a_stopped_run_leaves_no_files(disk_folder):
    size = {"min_file_size": "64MiB", "max_file_size": "64MiB"}
    workload = iozone(sync_writes=True, min_record_size="4KiB", **size)
    # Synchronous writes take longer than the time to the first tick, 50 ms, on a disk only.
    place = Place(disk_folder, 1, tick=lambda done: False)
    with pytest.raises(WorkloadStoppedError):
        workload.run(place)
    workload.clean(place)
    assert not list(disk_folder.iterdir())


def test_progress_continues_across_cells(tmp_path, monkeypatch):
    class TickingJob:
        def __init__(self, spec):
            self.job = FileJob(spec)

        def run(self, tick):
            tick(1)
            return self.job.run(lambda _: True)  # how often it ticks depends on its speed

    monkeypatch.setattr("iostudy.workloads.native.iozone._native.FileJob", TickingJob)
    ticks = []
    workload = iozone(max_file_size="64KiB", min_record_size="64KiB", operations="write, read")
    workload.run(Place(tmp_path, 1, tick=lambda done: ticks.append(done) or True))
    assert ticks == [1, 64 * KIB + 1]


def test_vanished_directory_is_reported(tmp_path):
    with pytest.raises(WorkloadError, match="No such file") as caught:
        iozone(max_file_size="64KiB").run(Place(tmp_path / "gone", 1))
    assert "gone" in caught.value.where


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_file_size": "1MiB", "max_file_size": "64KiB"}, "min_file_size is larger"),
        ({"min_record_size": "1GiB"}, "min_record_size is larger"),
        ({"min_record_size": "16MiB", "max_file_size": "1MiB"}, "no record fits"),
        ({"operations": []}, "at least 1"),
        ({"operations": "write, sprint"}, "Input should be 'write'"),
        ({"operations": ["read", "read"]}, "occurs twice"),
        ({"direct": True}, "leave fwrite"),
        ({"direct": True, "min_record_size": "512B"}, "multiples of 4096"),
        ({"threads": 0}, "greater than or equal to 1"),
        ({"max_file_size": "0"}, "greater than 0"),
        ({"stride": 1}, "greater than or equal to 2"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ValidationError, match=message):
        iozone(**options)
