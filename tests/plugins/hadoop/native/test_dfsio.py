"""TestDFSIO's figures by its formulae, on files that are verified and cleaned up."""

from __future__ import annotations

import math
import statistics
import zlib

import pytest
from pydantic import ValidationError

from iostudy.errors import WorkloadError, WorkloadStoppedError
from iostudy.workloads import catalog
from iostudy.workloads.workload import Place
from iostudy_hadoop.native import dfsio
from iostudy_hadoop.native.dfsio import compute_readings

MIB = 1 << 20


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, seed=7)


def make(name, **options):
    definition = catalog.get(name)
    return definition.make(definition.options.model_validate(options))


def test_written_files_are_read_back_and_verified(place):
    reading = make("dfsio-read", files=2, size="3MiB", record_size="64KiB")
    reading.prepare(place)
    figures = reading.run(place).figures
    assert figures["bytes"] == 2 * 3 * MIB
    assert set(figures) == {figure.name for figure in dfsio.READ.figures(reading.options)}
    assert all(value >= 0 and math.isfinite(value) for value in figures.values())
    reading.clean(place)
    assert not list(place.directory.iterdir())


@pytest.mark.parametrize("definition", dfsio.DEFINITIONS, ids=lambda each: each.name)
def test_every_one_gives_its_figures_twice_and_leaves_nothing(definition, place):
    workload = make(definition.name, files=2, size="3MiB")
    workload.prepare(place)
    for _ in range(2):
        workload.reset(place)
        measured = workload.run(place)
        assert set(measured.figures) == {f.name for f in definition.figures(workload.options)}
        assert all(value >= 0 and math.isfinite(value) for value in measured.figures.values())
        ((_, histogram),) = measured.latencies.items()
        assert sum(count for _, count in histogram) > 0
    workload.clean(place)
    assert not list(place.directory.iterdir())


@pytest.mark.parametrize(
    ("name", "options", "records"),
    [
        ("dfsio-random-read", {}, 48),
        ("dfsio-backward-read", {}, 48),
        ("dfsio-skip-read", {}, 24),
        ("dfsio-skip-read", {"skip_size": "192KiB"}, 12),
    ],
)
def test_reads_in_another_order_read_what_testdfsio_would(name, options, records, place):
    reading = make(name, files=1, size="3MiB", record_size="64KiB", **options)
    reading.prepare(place)
    measured = reading.run(place)
    assert measured.figures["bytes"] == records * 64 * 1024
    assert measured.figures["throughput"] == pytest.approx(measured.figures["average_io_rate"])
    assert sum(count for _, count in measured.latencies["read"]) == records


def test_append_doubles_the_files_and_every_trial_starts_equal(place):
    appending = make("dfsio-append", files=2, size="1MiB", record_size="64KiB")
    appending.prepare(place)
    before = [path.read_bytes() for path in appending.paths(place)]
    for _ in range(2):
        appending.reset(place)
        assert [path.stat().st_size for path in appending.paths(place)] == [MIB, MIB]
        assert appending.run(place).figures["bytes"] == 2 * MIB
        grown = [path.read_bytes() for path in appending.paths(place)]
        assert [each[:MIB] for each in grown] == before
        assert [len(each) for each in grown] == [2 * MIB, 2 * MIB]
    assert appending.space_bytes() == 4 * MIB


def test_missing_file_before_an_append_is_reported(place):
    appending = make("dfsio-append", files=2, size="1MiB")
    appending.prepare(place)
    appending.paths(place)[1].unlink()
    with pytest.raises(WorkloadError, match=r"No such file .*part-00001"):
        appending.reset(place)


@pytest.mark.parametrize(
    ("options", "left"), [({}, MIB // 2), ({"new_size": "4KiB", "fsync": False}, 4096)]
)
def test_a_truncate_cuts_off_and_counts_what_is_gone(options, left, place):
    truncating = make("dfsio-truncate", files=3, size="1MiB", **options)
    truncating.reset(place)
    figures = truncating.run(place).figures
    assert [path.stat().st_size for path in truncating.paths(place)] == [left] * 3
    assert figures["truncates"] == pytest.approx(3 / figures["exec_time"])
    gone = (MIB - left) / MIB
    assert figures["throughput"] <= figures["average_io_rate"]
    assert figures["average_io_rate"] >= gone * 3 / figures["exec_time"] / 3
    assert "bytes" not in figures


def test_files_that_vanish_while_they_are_open_give_no_figure(place):
    def removing(done):
        for path in writing.paths(place):
            path.unlink(missing_ok=True)
        return True

    # So small records that the first tick, after 50 ms, comes before the end.
    writing = make("dfsio-write", files=1, size="64MiB", record_size=128)
    with pytest.raises(WorkloadError, match="No such file") as caught:
        writing.run(Place(place.directory, seed=7, tick=removing))
    assert "part-00000" in caught.value.found


@pytest.mark.parametrize("definition", dfsio.DEFINITIONS, ids=lambda each: each.name)
def test_stopped_run_gives_no_figure(definition, place):
    # Records so small that none of them is done before the first tick, after 50 ms.
    options = {} if definition is dfsio.TRUNCATE else {"record_size": 32}
    workload = make(definition.name, files=2, size="64MiB", **options)
    workload.prepare(place)
    workload.reset(place)
    try:
        workload.run(Place(place.directory, seed=7, tick=lambda _: False))
    except WorkloadStoppedError as error:
        assert "no figure of the whole" in error.remedy
    else:
        assert definition is dfsio.TRUNCATE, "only what is done at once is done before a tick"
    workload.clean(place)
    assert not list(place.directory.iterdir())


def test_data_of_another_block_are_not_taken_for_its_own(place):
    reading = make("dfsio-read", files=1, size="1MiB")
    reading.prepare(place)
    with pytest.raises(WorkloadError, match="read back what was written") as caught:
        reading.run(Place(place.directory, seed=8))
    assert caught.value.exit_code == 3


def test_changed_data_are_found_with_file_and_offset(place):
    reading = make("dfsio-read", files=2, size="1MiB")
    reading.prepare(place)
    path = sorted(place.directory.iterdir())[1]
    with path.open("r+b") as file:
        file.seek(512 * 1024)
        file.write(bytes(16))
    with pytest.raises(WorkloadError, match=r"part-00001.*524288"):
        reading.run(place)


def test_the_figures_are_those_of_testdfsio(place):
    class TimedResult:
        wall_seconds = 5.0
        thread_seconds = (1.0, 2.0, 4.0, 5.0)

    figures = compute_readings(100 * MIB, TimedResult())
    rates = [100, 50, 25, 20]
    assert figures["throughput"] == pytest.approx(400 / 12)
    assert figures["average_io_rate"] == pytest.approx(statistics.fmean(rates))
    assert figures["io_rate_stddev"] == pytest.approx(statistics.pstdev(rates))
    assert figures["exec_time"] == 5.0


def test_every_write_makes_new_files(place):
    writing = make("dfsio-write", files=1, size="1MiB")
    writing.run(place)
    (path,) = place.directory.iterdir()
    before = path.stat()
    writing.reset(place)
    assert not path.exists()
    writing.run(place)
    assert path.stat().st_size == before.st_size


@pytest.mark.parametrize("percent", ["0%", "50%", "100%"])
def test_content_has_the_requested_compression(percent, place):
    writing = make("dfsio-write", files=1, size="4MiB", compressible=percent)
    writing.run(place)
    data = writing.paths(place)[0].read_bytes()
    left = len(zlib.compress(data, 1)) / len(data)
    assert left == pytest.approx(1 - float(percent.rstrip("%")) / 100, abs=0.02)


def test_only_trials_with_the_same_files_share_their_preparation():
    keys = [
        make("dfsio-read", files=2, size="1MiB", record_size=record).preparation()
        for record in ("1MiB", "4KiB")
    ]
    assert keys[0] == keys[1]
    assert make("dfsio-read", files=3, size="1MiB").preparation() != keys[0]


@pytest.mark.parametrize(
    "options",
    [
        {"files": 0},
        {"files": "many"},
        {"size": 0},
        {"size": "1KiB", "record_size": "1MiB"},
        {"direct": True, "record_size": 1000},
        {"direct": "perhaps"},
        {"colour": "red"},
    ],
)
def test_options_that_cannot_work_are_refused(options):
    with pytest.raises(ValidationError):
        make("dfsio-write", **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("dfsio-skip-read", {"skip_size": "100kB"}),
        ("dfsio-truncate", {"size": "1MiB", "new_size": "1MiB"}),
        ("dfsio-truncate", {"size": 1}),
        ("dfsio-truncate", {"direct": True}),
        ("dfsio-read", {"fsync": True}),
        ("dfsio-write", {"compressible": 30}),
        ("dfsio-write", {"compressible": "130%"}),
    ],
)
def test_options_of_one_operation_are_refused_where_they_cannot_work(name, options):
    with pytest.raises(ValidationError):
        make(name, **options)
