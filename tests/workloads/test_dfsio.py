"""TestDFSIO's figures by its formulae, on files that are verified and cleaned up."""

from __future__ import annotations

import math
import statistics

import pytest
from pydantic import ValidationError

from iostudy.errors import WorkloadError
from iostudy.workloads import catalog, dfsio
from iostudy.workloads.definition import Place
from tests.native.jobs import job

MIB = 1 << 20


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, seed=7)


def make(name, **options):
    definition = catalog.get(name)
    return definition.make(definition.options.model_validate(options))


def test_what_was_written_is_read_back_and_verified(place):
    reading = make("dfsio-read", files=2, size="3MiB", record_size="64KiB")
    reading.prepare(place)
    figures = reading.run(place).figures
    assert figures["bytes"] == 2 * 3 * MIB
    assert set(figures) == {figure.name for figure in dfsio.READ.figures(reading.options)}
    assert all(value >= 0 and math.isfinite(value) for value in figures.values())
    reading.clean(place)
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
    result = job([place.directory / "f"]).run()

    class Timed:
        bytes = 4 * 100 * MIB
        wall_seconds = 5.0
        thread_seconds = (1.0, 2.0, 4.0, 5.0)

    options = dfsio.DfsioWriteOptions.model_validate({"files": 4, "size": "100MiB"})
    figures = dfsio._figures(Timed(), result.write.latencies, options)
    rates = [100, 50, 25, 20]
    assert figures["throughput"] == pytest.approx(400 / 12)
    assert figures["average_io_rate"] == pytest.approx(statistics.fmean(rates))
    assert figures["io_rate_stddev"] == pytest.approx(statistics.pstdev(rates))
    assert figures["aggregate"] == pytest.approx(80)
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
