"""Rows that are Hadoop's, sorted within a memory limit, and found out when they are not."""

from __future__ import annotations

import math
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from iostudy.errors import UsageError, WorkloadError, WorkloadStoppedError
from iostudy.workloads import catalog
from iostudy.workloads.workload import Place

MIB = 1 << 20
NAMES = ("teragen", "terasort", "teravalidate")
SMALL = {"rows": "20k"}


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, seed=7)


def make(name, **options):
    definition = catalog.get(name)
    return definition.make(definition.options.model_validate(options))


def prepared(name, place, **options):
    workload = make(name, **options)
    workload.check()
    workload.prepare(place)
    workload.reset(place)
    return workload


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("part-*"))


def keys(folder: Path) -> list[bytes]:
    content = b"".join(path.read_bytes() for path in parts(folder))
    return [content[at : at + 10] for at in range(0, len(content), 100)]


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_those_of_the_definition_and_nothing_is_left(name, place):
    workload = prepared(name, place, **SMALL)
    measured = workload.run(place)
    expected = {figure.name for figure in catalog.get(name).figures(workload.options)}
    assert set(measured.figures) == expected
    assert all(value > 0 and math.isfinite(value) for value in measured.figures.values())
    rate = 20_000 * 100 / MIB / measured.figures["exec_time"]
    assert measured.figures["rate"] == pytest.approx(rate)
    (note,) = measured.notes
    assert "checksum" in note
    workload.clean(place)
    assert not list(place.directory.iterdir())


def test_rows_are_sorted_into_parts_and_trials_can_be_repeated(place):
    workload = prepared("terasort", place, reducers=3, **SMALL)
    for _ in range(2):
        workload.reset(place)
        figures = workload.run(place).figures
    assert keys(place.directory / "tera-out") == sorted(keys(place.directory / "tera-in"))
    assert len(parts(place.directory / "tera-out")) == 3
    assert figures["spilled"] == pytest.approx(2_000_000 / MIB)
    assert figures["bytes"] >= 4 * 2_000_000
    assert figures["spill_time"] + figures["merge_time"] == pytest.approx(figures["exec_time"])


def test_rows_that_a_killed_run_has_left_are_made_anew(place):
    prepared("terasort", place, rows=10).run(place)
    prepared("terasort", place, **SMALL).run(place)
    assert len(keys(place.directory / "tera-out")) == 20_000


def test_more_reducers_than_rows_and_direct(place):
    workload = prepared("terasort", place, rows=5, reducers=9, direct=True)
    workload.run(place)
    assert len(keys(place.directory / "tera-out")) == 5
    assert len(parts(place.directory / "tera-out")) == 9


def test_spills_on_another_file_system_are_not_counted_on_the_target(place):
    elsewhere = Path("/dev/shm")
    if not elsewhere.is_dir() or elsewhere.stat().st_dev == place.directory.stat().st_dev:
        pytest.skip("no other file system to spill to")
    both = prepared("terasort", place, spill=[str(elsewhere), str(place.directory)], **SMALL)
    here = make("terasort", **SMALL)
    figures = both.run(place).figures
    both.reset(place)
    assert figures["bytes"] == here.run(place).figures["bytes"] - 2_000_000
    assert both.space_bytes() < here.space_bytes()


def test_trials_share_rows_however_they_are_sorted():
    assert (
        make("terasort", memory="64MiB", reducers=1).preparation()
        == make("terasort", memory="1GiB", threads=1).preparation()
    )
    assert make("terasort").preparation() != make("teravalidate").preparation()


@pytest.mark.parametrize("name", ["terasort", "teravalidate"])
def test_changed_rows_are_found_by_their_checksum(name, place):
    workload = prepared(name, place, **SMALL)
    path = parts(next(place.directory.glob("tera-*/")))[1]
    with path.open("r+b") as file:
        file.seek(5050)
        file.write(b"?")
    with pytest.raises(WorkloadError, match="rows that were made") as caught:
        workload.run(place)
    assert caught.value.exit_code == 3


def test_a_row_out_of_order_is_found_with_file_number_and_keys(place):
    workload = prepared("teravalidate", place, **SMALL)
    path = parts(place.directory / "tera-out")[1]
    with path.open("r+b") as file:
        file.seek(4200)
        file.write(bytes(10))
    message = (
        r"part-r-00001 is out of order: row 42 .*00 00 00 00 00 00 00 00 00 00, the row before"
    )
    with pytest.raises(WorkloadError, match=message):
        workload.run(place)


def test_truncated_rows_are_reported_with_their_file_and_leave_nothing(place):
    workload = prepared("terasort", place, **SMALL)
    path = parts(place.directory / "tera-in")[1]
    os.truncate(path, 12_345)
    with pytest.raises(WorkloadError, match=r"part-m-00001 has 12345 bytes, not a multiple"):
        workload.run(place)
    os.truncate(path, 12_300)
    with pytest.raises(WorkloadError, match="holds 10123 rows, not 20000"):
        workload.run(place)
    assert not (place.directory / "tera-out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 0}, "greater than 0"),
        ({"reducers": 0}, "greater than or equal to 1"),
        ({"threads": 0}, "greater than or equal to 1"),
        ({"memory": "1MiB"}, "2 threads that sort 10000000 rows need at least"),
        ({"rows": "100G", "memory": "64MiB"}, "need at least"),
        ({"spill": ["spill"]}, "is relative"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_options_that_cannot_work_are_refused(options, message):
    with pytest.raises(ValidationError, match=message):
        make("terasort", **options)


def test_missing_spill_folder_is_an_error(place, tmp_path):
    missing = tmp_path / "missing"
    workload = make("terasort", spill=[str(missing)], **SMALL)
    with pytest.raises(UsageError, match="it does not exist"):
        workload.check()
    workload.prepare(place)
    with pytest.raises(WorkloadError, match=r"No such file or directory.*missing"):
        workload.run(place)
    assert not (place.directory / "tera-out").exists()


@pytest.mark.parametrize(
    "name", ["teragen", "terasort", pytest.param("teravalidate", marks=pytest.mark.slow)]
)
def test_a_stopped_run_says_so(name, place):
    stopping = Place(place.directory, place.seed, tick=lambda _: False)
    with pytest.raises(WorkloadStoppedError):
        for rows in ("1M", "2M", "4M", "8M"):  # a fast run ends before the first tick, at 50 ms
            workload = prepared(name, place, rows=rows, threads=1)
            workload.run(stopping)
            workload.clean(place)


def test_an_interrupted_sort_leaves_nothing(place):
    workload = prepared("terasort", place, rows="1M", threads=1)  # takes longer than the request

    def interrupt(_: int) -> bool:
        os.kill(os.getpid(), signal.SIGINT)
        return True

    with pytest.raises(KeyboardInterrupt):
        for _ in range(20):
            workload.reset(place)
            workload.run(Place(place.directory, place.seed, interrupt))
    assert {path.name for path in place.directory.iterdir()} == {"tera-in", "tera-checksum"}


@pytest.mark.root
@pytest.mark.parametrize("full", ["spill", "output"])
def test_full_disk_is_reported_and_space_is_freed(full, tmp_path):
    small, large = tmp_path / "small", tmp_path / "large"
    small.mkdir()
    large.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(small)]
    subprocess.run(mount, check=True)
    try:
        directory, spill = (large, small) if full == "spill" else (small, large)
        place = Place(directory, seed=7)
        rows = "500k" if full == "spill" else "150k"
        workload = prepared("terasort", place, rows=rows, spill=[str(spill)])
        free = os.statvfs(small).f_bavail
        with pytest.raises(WorkloadError, match="No space left on device") as caught:
            workload.run(place)
        assert "make room" in caught.value.remedy
        assert os.statvfs(small).f_bavail == free
        assert not (directory / "tera-out").exists()
    finally:
        subprocess.run(["umount", str(small)], check=True)


MEASURE = """
import sys
from pathlib import Path
from iostudy_hadoop.native import terasort
from iostudy.workloads.workload import Place

def kilobytes(name):
    status = Path("/proc/self/status").read_text()
    return int(status.split(name + ":")[1].split()[0])

options = terasort.TeraSortOptions.model_validate({"rows": "1M", "memory": sys.argv[2]})
workload = terasort.TeraSort(options)
before = kilobytes("VmRSS")
figures = workload.run(Place(Path(sys.argv[1]), 7)).figures
print(kilobytes("VmHWM") - before, figures["memory"])
"""


@pytest.mark.child
@pytest.mark.parametrize("memory", [20, 48, 96])
def test_the_process_grows_by_no_more_than_the_limit(memory, place):
    prepared("terasort", place, rows="1M")
    command = [sys.executable, "-c", MEASURE, str(place.directory), f"{memory}MiB"]
    grown, output = subprocess.check_output(command, text=True).split()
    assert float(output) <= memory
    assert float(output) * 0.8 <= int(grown) / 1024 <= memory


@pytest.mark.parametrize(("direct", "needed"), [(False, 2 + 2), (True, 4 + 4)])
def test_more_runs_than_may_be_open_are_refused_first(place, monkeypatch, direct, needed):
    workload = prepared("terasort", place, direct=direct, **SMALL)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (40, 40))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UsageError, match=f"wanted: {needed} files of sorted runs"):
        workload.check()
    with pytest.raises(WorkloadError, match="limit of open files is 40") as caught:
        workload.run(place)
    assert "or give more memory" in caught.value.remedy
    assert not (place.directory / "tera-out").exists()
