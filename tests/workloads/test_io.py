"""Tests of the io workload: figures, cleanup and errors."""

from __future__ import annotations

import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
from contextlib import contextmanager

import pytest
from pydantic import ValidationError

from iostudy.errors import TargetError, UsageError, WorkloadError, WorkloadStoppedError
from iostudy.workloads import open_file_limit
from iostudy.workloads.native.io import IO, Io
from iostudy.workloads.native.io_options import IoOptions
from iostudy.workloads.workload import Place

KIB, MIB = 1 << 10, 1 << 20
SMALL = {"size": "1MiB", "record_size": "16KiB"}


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, seed=7)


def make(**options) -> Io:
    return Io(IoOptions.model_validate(SMALL | options))


def carried_out(place, **options):
    workload = make(**options)
    workload.check()
    workload.prepare(place)
    try:
        workload.reset(place)
        return workload.run(place)
    finally:
        workload.clean(place)
        assert not list(place.directory.iterdir())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"operation": "write"},
        {"operation": "write", "overwrite": True, "order": "random"},
        {"operation": "mix", "read_percent": 70, "order": "random", "total": "8MiB"},
        {"order": "zipf", "zipf_exponent": 1.2, "duration": "50ms", "ramp": "20ms"},
        {"order": "strided", "step": 4, "jobs": 2, "files": 3},
        {"order": "skip", "step": "2"},
        {"order": "reverse", "engine": "seek", "advice": "random"},
        {"engine": "stdio"},
        {"engine": "io_uring", "depth": 8, "order": "random"},
        {"operation": "write", "sync": "fdatasync", "sync_every": 16, "allocate": True},
        {"operation": "write", "dsync": True, "sync": "fsync"},
        {"arrival": "poisson", "rate": "2k", "duration": "50ms"},
        {"rate": 5000, "total": "512KiB"},
        {"think": "100us", "verify": False, "compressible": "40%"},
    ],
    ids=str,
)
def test_every_declared_figure_is_measured(options, place):
    measured = carried_out(place, **options)
    wanted = IO.figures(make(**options).options)
    assert set(measured.figures) == {figure.name for figure in wanted}
    assert all(math.isfinite(value) and value >= 0 for value in measured.figures.values())
    assert all(sum(count for _, count in each) for each in measured.latencies.values())
    assert measured.figures[wanted[0].name] > 0


def test_one_pass_moves_every_byte_once(place):
    figures = carried_out(place, jobs=2, files=3).figures
    assert figures["bytes"] == 6 * MIB
    assert figures["bandwidth"] == pytest.approx(6 / figures["exec_time"])
    assert figures["iops"] == pytest.approx(6 * 64 / figures["exec_time"])


def test_mix_distinguishes_reads_and_writes(place):
    measured = carried_out(place, operation="mix", read_percent=75, total="16MiB", order="random")
    figures = measured.figures
    assert figures["read_iops"] + figures["write_iops"] == pytest.approx(figures["iops"])
    assert figures["read_bandwidth"] / figures["bandwidth"] == pytest.approx(0.75, abs=0.07)
    assert set(measured.latencies) == {"read", "write"}


def test_bytes_are_those_of_the_ramp_too_and_rates_are_not(place):
    slow = {"rate": 200, "duration": "400ms", "ramp": "800ms"}
    figures = carried_out(place, **slow).figures
    records, measured = figures["bytes"] / (16 * KIB), 0.4 * figures["iops"]
    # The ramp is twice as long as what is measured. A busy machine may be slower, never faster.
    assert 1.5 * measured < records < 1.25 * 240
    assert 0 < figures["iops"] < 1.4 * 200
    assert "cpu_per_io" not in figures


def test_a_ramp_that_leaves_nothing_to_count_is_an_error(place):
    with pytest.raises(WorkloadError, match="no read was done in the time that counts"):
        carried_out(place, ramp="1h")


def test_missed_requests_of_an_open_loop_are_reported(place):
    measured = carried_out(
        place, arrival="even", rate="1G", duration="20ms", record_size="1MiB", verify=False
    )
    assert measured.figures["overdue"] > 0
    assert "never begun" in measured.notes[-1]


def test_several_passes_over_cached_files_are_noted(place):
    measured = carried_out(place, duration="50ms")
    assert any("the page cache serves later passes" in note for note in measured.notes)
    assert not carried_out(place).notes


@pytest.mark.parametrize(
    ("options", "figure"),
    [
        ({}, "bandwidth"),
        ({"order": "strided"}, "bandwidth"),
        ({"order": "random"}, "iops"),
        ({"order": "zipf", "operation": "write"}, "iops"),
        ({"order": "random", "rate": 100}, "read_latency_p99"),
        ({"operation": "write", "rate": 100}, "write_latency_p99"),
    ],
)
def test_the_figure_of_verdicts_follows_from_the_options(options, figure):
    assert IO.figures(make(**options).options)[0].name == figure


def test_files_are_dealt_out_over_directories_and_only_own_folders_go(tmp_path):
    disks = [tmp_path / name for name in "abc"]
    for disk in disks:
        disk.mkdir()
        (disk / "precious").write_text("kept")
    place = Place(tmp_path / "work", seed=1)
    place.directory.mkdir()
    workload = make(jobs=2, files=3, directories=", ".join(map(str, disks)))
    assert workload.space_bytes() == 0
    workload.check()
    workload.prepare(place)
    found = [len(list(disk.glob("iostudy-io-*/job-*"))) for disk in disks]
    assert found == [2, 2, 2]
    assert workload.run(place).figures["bytes"] == 6 * MIB
    workload.clean(place)
    assert [[path.name for path in disk.iterdir()] for disk in disks] == [["precious"]] * 3


def test_files_are_dealt_out_over_further_disks(tmp_path):
    disk = tmp_path / "mounted"
    disk.mkdir()
    place = Place(tmp_path / "work", seed=1, disks={"disk2": disk})
    place.directory.mkdir()
    workload = make(jobs=2, directories="target, disk2")
    assert workload.disks() == {"disk2"}
    assert workload.directories() == ()
    assert workload.places(place) == (place.directory, disk)
    workload.prepare(place)
    assert [len(list(each.glob("iostudy-io-*/job-*"))) for each in (place.directory, disk)] == [
        1,
        1,
    ]
    workload.clean(place)
    assert list(disk.iterdir()) == []
    with pytest.raises(TargetError, match="a further disk disk3"):
        make(directories="disk3").places(place)


def test_a_folder_that_cannot_be_removed_does_not_keep_the_others(tmp_path, monkeypatch):
    disks = [tmp_path / name for name in "ab"]
    for disk in disks:
        disk.mkdir()
    place = Place(tmp_path, seed=1)
    workload = make(operation="write", jobs=2, directories=[*map(str, disks)])
    workload.reset(place)
    first, second = workload.folders(place)
    rmtree = shutil.rmtree

    def refusing(folder):
        if folder == second:
            raise PermissionError(folder)
        rmtree(folder)

    monkeypatch.setattr(shutil, "rmtree", refusing)
    with pytest.raises(WorkloadError, match="to remove what"):
        workload.clean(place)
    assert not first.exists()


def test_a_link_in_the_place_of_its_folder_is_not_followed(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    place = Place(tmp_path, seed=1)
    workload = make(operation="write")
    (folder,) = workload.folders(place)
    folder.symlink_to(other)
    (other / "file").touch()
    workload.reset(place)
    assert (other / "file").exists()
    assert not folder.is_symlink()


@pytest.mark.parametrize(
    ("name", "words"), [("missing", "it does not exist"), ("file", "it is not a directory")]
)
def test_unfit_directories_are_refused_before_anything_is_done(name, words, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(TargetError, match=words):
        make(directories=[str(tmp_path / name)]).check()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": 0}, "greater than 0"),
        ({"record_size": "2MiB"}, "larger than size"),
        ({"direct": True, "record_size": 1000}, "multiples of 4096 bytes, for it moves"),
        ({"duration": "1s", "total": "1MiB"}, "give one of them"),
        ({"duration": 0}, "must be more"),
        ({"overwrite": True}, "for writing only"),
        ({"sync": "fsync"}, "sync is for writing only"),
        ({"arrival": "even"}, "needs a rate"),
        ({"rate": 5, "think": "1ms"}, "either a rate or think"),
        ({"engine": "io_uring", "iopoll": True}, "needs direct"),
        ({"engine": "io_uring", "submit_batch": 2}, "submit_batch"),
        ({"directories": ["here/there"]}, "is relative"),
        ({"directories": "/a,/a"}, "occurs twice"),
        ({"directories": "target, disk2, target"}, "occurs twice"),
        ({"directories": "/a,/b/../a"}, "occurs twice"),
        ({"sync": "fsync", "sync_every": 10**30, "operation": "write"}, "less than or equal"),
        ({"order": "strided", "step": 10**30}, "write at most"),
        ({"think": f"{10**30}s"}, "292 years"),
        ({"operation": "mix", "read_percent": 100}, "less than or equal to 99"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_options_that_cannot_work_are_refused(options, words):
    with pytest.raises(ValidationError, match=words):
        make(**options)


def test_truncated_file_is_reported_with_its_byte(place):
    workload = make(files=2)
    workload.prepare(place)
    (folder,) = workload.folders(place)
    os.truncate(folder / "job-0000-file-00001", 5000)
    with pytest.raises(WorkloadError, match=r"file-00001 ends at byte 5000"):
        workload.run(place)
    workload.clean(place)


def test_changed_byte_is_reported(place):
    workload = make(order="random", jobs=2)
    workload.prepare(place)
    (folder,) = workload.folders(place)
    with (folder / "job-0001-file-00000").open("r+b") as file:
        file.seek(256 * KIB)
        file.write(b"\xff" * 16)
    with pytest.raises(WorkloadError, match=r"job-0001-file-00000 .* at byte 262144"):
        workload.run(place)
    workload.clean(place)


def test_a_folder_that_vanishes_gives_no_figure(place):
    workload = make(operation="write", duration="200ms")
    workload.reset(place)
    (folder,) = workload.folders(place)
    gone = Place(place.directory, 7, lambda _: shutil.rmtree(folder, ignore_errors=True) or True)
    with pytest.raises(WorkloadError, match="No such file"):
        workload.run(gone)
    workload.clean(place)
    assert not list(place.directory.iterdir())


def test_stopped_run_gives_no_figure(place):
    stopping = Place(place.directory, seed=7, tick=lambda _: False)
    workload = make(duration="1h")
    workload.prepare(place)
    with pytest.raises(WorkloadStoppedError, match="it was stopped"):
        workload.run(stopping)
    workload.clean(place)
    assert not list(place.directory.iterdir())


@contextmanager
def open_files(soft):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_files_are_made_beyond_the_soft_limit_that_a_run_is_refused_by(place):
    workload = make(files=300, size="4KiB", record_size="4KiB")
    workload.check()
    with open_files(256):
        workload.prepare(place)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 256
        with pytest.raises(WorkloadError, match="limit of open files is 256") as caught:
            workload.run(place)
        assert "limit.nofile_soft" in caught.value.remedy
    assert workload.run(place).figures["bytes"] == 300 * 4096
    workload.clean(place)


def test_more_files_than_any_limit_allows_are_refused_first(monkeypatch, tmp_path):
    monkeypatch.setattr(open_file_limit, "_MOST", tmp_path / "nr_open")
    (tmp_path / "nr_open").write_text("1000\n")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    make(jobs=4, files=200).check()
    with pytest.raises(UsageError, match="may have 1000 files open"):
        make(jobs=5, files=200).check()


ENDLESS = textwrap.dedent("""
    import sys
    from pathlib import Path
    from iostudy.workloads.workload import Place
    from iostudy.workloads.native.io import Io
    from iostudy.workloads.native.io_options import IoOptions

    reported = []
    def tick(done):
        if not reported:
            reported.append(done)
            print("running", flush=True)
        return True

    place = Place(Path(sys.argv[1]), 1, tick)
    options = {"operation": "write", "duration": "1h", "size": "1MiB", "jobs": 2}
    workload = Io(IoOptions.model_validate(options))
    try:
        workload.reset(place)
        workload.run(place)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    finally:
        workload.clean(place)
""")


@pytest.mark.child
def test_an_interrupt_ends_it_and_leaves_nothing(tmp_path):
    command = [sys.executable, "-c", ENDLESS, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "running\n"
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=300)
        finally:
            process.kill()
    assert output == "interrupted\n"
    assert not list(tmp_path.iterdir())


@contextmanager
def mounted(kind, folder, options):
    folder.mkdir()
    subprocess.run(["mount", "-t", kind, "-o", options, "iostudy-test", folder], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.fixture
def small(tmp_path):
    """A file system of 4 MiB in memory."""
    with mounted("tmpfs", tmp_path / "small", "size=4m") as folder:
        yield folder


@pytest.mark.root
def test_missing_direct_io_is_reported(tmp_path):
    with mounted("ramfs", tmp_path / "small", "mode=755") as folder:
        place = Place(folder, seed=1)
        workload = make(operation="write", direct=True)
        workload.reset(place)
        with pytest.raises(WorkloadError, match=r"Invalid argument .*open at byte 0") as caught:
            workload.run(place)
        assert "turn direct off" in caught.value.remedy
        workload.clean(place)


@pytest.mark.root
@pytest.mark.parametrize("options", [{"operation": "write"}, {"operation": "read"}])
def test_full_disk_is_reported_and_nothing_is_left(options, small):
    workload = make(files=8, **options)
    place = Place(small, seed=1)
    with pytest.raises(WorkloadError, match="No space left") as caught:
        workload.prepare(place)
        workload.reset(place)
        workload.run(place)
    assert "make room" in caught.value.remedy
    assert "byte" in caught.value.found
    workload.clean(place)
    assert not list(small.iterdir())


@pytest.mark.root
def test_full_second_directory_is_reported(small, tmp_path):
    place = Place(tmp_path, seed=1)
    workload = make(operation="write", jobs=2, files=8, directories=[str(tmp_path), str(small)])
    workload.check()
    workload.reset(place)
    with pytest.raises(WorkloadError, match=r"No space left .*small/iostudy-io-"):
        workload.run(place)
    workload.clean(place)
    assert not list(small.iterdir())
    assert [path.name for path in tmp_path.iterdir()] == ["small"]
