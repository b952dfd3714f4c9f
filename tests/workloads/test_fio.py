"""Tests of fio job files, unmodified: figures as fio reports them, no files outside the target."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from iostudy.errors import UsageError, WorkloadError, WorkloadStoppedError
from iostudy.units import MIB
from iostudy.workloads.external import fio, fio_job, program
from iostudy.workloads.measurement import BYTES
from iostudy.workloads.workload import NO_TARGET, Place, TargetPaths
from tests.page_cache import resident_pages

pytestmark = pytest.mark.child

needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")


@pytest.fixture
def make(tmp_path):
    def workload(text, **options):
        path = tmp_path / "test.fio"
        path.write_text(text)
        return fio.FIO.make(fio.FioOptions.model_validate({"job": str(path), **options}))

    return workload


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """A program in the place of fio that parses job files like it, and runs this script."""

    def install(script):
        real = shutil.which("fio")
        folder = tmp_path / "bin"
        folder.mkdir()
        body = f'case "$1" in --parse-only) exec {real} "$@";; esac\n{script}\n'
        (folder / "fio").write_text(f"#!/bin/sh\n{body}")
        (folder / "fio").chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return install


WRITING = "[one]\nrw=write\nsize=4m\nbs=64k\nend_fsync=1\n"
READING = "[one]\nrw=randread\nsize=4m\nbs=4k\n"


def trial(workload, place):
    workload.check()
    workload.prepare(place)
    workload.reset(place)
    return workload.run(place)


@needs_fio
def test_a_job_works_in_the_folder_and_is_counted(make, place):
    workload = make(WRITING)
    measured = trial(workload, place)
    assert (place.directory / "one.0.0").stat().st_size == 4 * MIB
    assert measured.figures[BYTES] == 4 * MIB
    assert measured.figures["bandwidth"] == measured.figures["write_bandwidth"] > 0
    assert measured.figures["iops"] == pytest.approx(measured.figures["bandwidth"] * 16)
    assert "read_bandwidth" not in measured.figures
    assert sum(count for _, count in measured.latencies["write"]) == 64
    assert measured.notes == (f"{fio_version()}, as: [one] rw=write size=4m bs=64k end_fsync=1",)
    names = {figure.name for figure in fio.FIO.figures(workload.options)}
    assert set(measured.figures) <= names
    workload.clean(place)
    assert not list(place.directory.iterdir())


def fio_version():
    import subprocess

    requested = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True)
    return requested.stdout.strip()


@needs_fio
def test_the_figures_are_fios_own(make, place):
    measured = trial(make(READING), place)
    (part,) = measured.parts
    assert part.labels == {"job": "one", "group": "0", "clone": "1"}
    assert measured.figures["iops"] == pytest.approx(part.figures["read_iops"])
    assert measured.figures["bandwidth"] == pytest.approx(part.figures["read_bandwidth"])
    assert measured.figures["latency_p99"] == part.figures["read_latency_p99"]
    names = {figure.name for figure in fio.FIO.part_figures(fio.FioOptions(job="x"))}
    assert set(part.figures) <= names


@needs_fio
def test_files_to_read_are_laid_out_before_the_trial_and_kept(make, place):
    workload = make(READING)
    workload.prepare(place)
    before = (place.directory / "one.0.0").stat()
    assert before.st_blocks * 512 >= 4 * MIB
    (place.directory / "one.0.0").read_bytes()
    workload.reset(place)
    assert (place.directory / "one.0.0").stat().st_ino == before.st_ino
    assert resident_pages(place.directory / "one.0.0") == 0
    assert workload.run(place).figures[BYTES] == 4 * MIB


@needs_fio
def test_files_that_are_written_are_made_anew_for_every_trial(make, place):
    workload = make(WRITING)
    trial(workload, place)
    (place.directory / "left").touch()
    workload.reset(place)
    assert not (place.directory / "left").exists()


@needs_fio
def test_jobs_one_after_another_share_the_time(make, place):
    rates = "[global]\nrw=write\nsize=1m\nbs=64k\nrate=2m\n[a]\nnumjobs=2\n[b]\nstonewall\n"
    measured = trial(make(rates), place)
    # 1 MiB at 2 MiB/s takes half a second: two such in parallel, then one.
    assert measured.figures["bandwidth"] == pytest.approx(3, rel=0.25)
    assert [part.labels["clone"] for part in measured.parts] == ["1", "2", "1"]


@needs_fio
@pytest.mark.parametrize(
    "extra",
    [
        "unified_rw_reporting=1",
        "unified_rw_reporting=2",
        "clat_percentiles=0\nlat_percentiles=1",
        "gtod_reduce=1",
    ],
)
def test_other_ways_of_reporting_are_understood(make, place, extra):
    measured = trial(make(f"[x]\nrw=randrw\nsize=2m\n{extra}\n"), place)
    assert measured.figures["bandwidth"] > 0
    assert measured.figures[BYTES] == 2 * MIB
    assert ("latency_p99" in measured.figures) == (extra != "gtod_reduce=1")


@needs_fio
def test_fsyncs_have_a_histogram_of_their_own(make, place):
    measured = trial(make("[x]\nrw=write\nsize=1m\nbs=64k\nfsync=4\n"), place)
    # None after the last record: fio leaves that to end_fsync.
    assert sum(count for _, count in measured.latencies["sync"]) == 3
    assert 0 < measured.figures["sync_latency_p50"] <= measured.figures["sync_latency_max"]


@needs_fio
def test_text_before_the_report_of_fio_is_tolerated(make, place):
    # A note that synchronous engines have a depth of 1.
    measured = trial(make(READING + "ioengine=psync\niodepth=4\n"), place)
    assert measured.figures["read_iops"] > 0


@needs_fio
def test_bytes_are_unknown_if_the_run_creates_files(make, place):
    assert BYTES not in trial(make(READING + "unlink=1\n"), place).figures


@needs_fio
def test_the_jobs_that_come_with_iostudy_run(place):
    for path in fio_job.READY_MADE.glob("*.fio"):
        workload = fio.FIO.make(fio.FioOptions(job=path.name))
        assert trial(workload, place).figures["bandwidth"] > 0
        workload.clean(place)


@needs_fio
def test_a_job_that_fails_has_no_figures_and_fios_words(make, place):
    workload = make("[x]\nrw=read\nsize=1m\nbs=64k\nverify=crc32c\n")
    workload.prepare(place)
    with pytest.raises(WorkloadError, match=r"exit code 1; it printed: .*verify"):
        workload.run(place)


@needs_fio
def test_an_error_in_the_report_fails_although_fio_ends_with_0(make, place, fake, tmp_path):
    workload = make(WRITING)
    fake(f"cat {tmp_path}/report")
    (tmp_path / "report").write_text('{"fio version": "fio-9", "jobs": [' + JOB + "]}")
    with pytest.raises(WorkloadError, match="job x ended with error 28"):
        workload.run(place)


JOB = """{"jobname": "x", "groupid": 0, "error": 28, "usr_cpu": 0, "sys_cpu": 0,
  "read": {"io_bytes": 0, "total_ios": 0, "runtime": 0}, "sync": {"lat_ns": {}},
  "write": {"io_bytes": 0, "total_ios": 0, "runtime": 0},
  "trim": {"io_bytes": 0, "total_ios": 0, "runtime": 0}}"""


@needs_fio
@pytest.mark.parametrize("script", ["echo '{\"jobs\": [{'", "echo none", "true"])
def test_invalid_report_is_an_error(make, place, fake, script):
    workload = make(WRITING)
    fake(script)
    with pytest.raises(WorkloadError, match="no whole JSON document"):
        workload.run(place)


@needs_fio
def test_oversized_report_is_an_error(make, place, monkeypatch):
    workload = make(READING)
    workload.prepare(place)
    monkeypatch.setattr(program, "KEPT_BYTES", 500)
    with pytest.raises(WorkloadError, match=r"\d+ bytes too many.*\n.*group_reporting"):
        workload.run(place)


@needs_fio
def test_a_job_that_never_ends_is_ended(make, place):
    endless = "[x]\nrw=read\nsize=1m\nruntime=1h\ntime_based\n"
    make(endless).prepare(place)
    with pytest.raises(WorkloadError, match=r"within 1\.0 s"):
        make(endless, limit="1s").run(place)


@needs_fio
def test_stop_ends_the_run(make, place):
    endless = make("[x]\nrw=read\nsize=1m\nruntime=1h\ntime_based\n")
    endless.prepare(place)
    with pytest.raises(WorkloadStoppedError):
        endless.run(Place(place.directory, 7, lambda _: False))


@needs_fio
@pytest.mark.parametrize(
    "line",
    [
        "filename=/dev/sdz",
        "filename=a:/dev/sdz",
        r"filename=/dev/disk/by-path/pci-0000\:00",
        "filename=../x",
        "filename=sub/../../x",
        "filename=${OUTSIDE}/x",
        "directory=/tmp",
        "directory=sub:/tmp",
        "filename_format=/tmp/$jobname",
        "opendir=/tmp",
        "write_bw_log=/tmp/log",
        "write_iolog=../log",
        "mem=mmap:/tmp/memory",
        "ioscheduler=none",
        "exec_prerun=true",
        "exec_postrun=true",
        "ioengine=null\nread_iolog=log",
        "ioengine=sg",
        "include inc.fio",
        "rw=read\n[/dev/null]\nsize=1m",
    ],
)
def test_paths_outside_the_target_are_refused(make, place, tmp_path, monkeypatch, line):
    monkeypatch.setenv("OUTSIDE", "/somewhere")
    (tmp_path / "inc.fio").write_text("filename=/dev/sdz\n")
    (tmp_path / "log").write_text("fio version 2 iolog\n")
    workload = make(f"[global]\nsize=1m\n[x]\n{line}\n")
    steps = (lambda: workload.check_target(NO_TARGET), lambda: workload.run(place))
    for step in steps:
        with pytest.raises(
            UsageError, match=r"outside of the target|scheduler|log|on files|shell"
        ) as e:
            step()
        assert e.value.exit_code == 2
    assert not list(place.directory.iterdir())


@needs_fio
@pytest.mark.parametrize(
    "line", ["filename=a:b", r"filename=a\:b", "directory=.", "filename=sub/../x", "mem=mmap"]
)
def test_paths_on_the_target_are_accepted(make, line):
    make(f"[x]\nrw=write\nsize=1m\n{line}\n").check_target(NO_TARGET)


@needs_fio
@pytest.mark.parametrize("directory", ["sub/a:b", "TARGET", "TARGET/sub", "TARGET/c\\\\:d"])
def test_directories_of_the_target_are_made_in_the_trials_folder(make, tmp_path, directory):
    target = TargetPaths(directory=tmp_path)
    folder = tmp_path / "own"
    folder.mkdir()
    text = f"[x]\nrw=write\nsize=64k\ndirectory={directory.replace('TARGET', str(tmp_path))}\n"
    workload = make(text)
    workload.check_target(target)
    measured = trial(workload, Place(folder, seed=7, target=target))
    assert measured.figures[BYTES] == 64 << 10
    written = [path for path in tmp_path.rglob("x.*") if path.is_file()]
    assert written and all(folder in path.parents for path in written)


@needs_fio
def test_a_sibling_of_the_target_is_outside(make, tmp_path):
    workload = make(f"[x]\nrw=write\nsize=64k\ndirectory={tmp_path}-other\n")
    with pytest.raises(UsageError, match=r"outside of the target.*override: {directory: \.}"):
        workload.check_target(TargetPaths(directory=tmp_path))


@needs_fio
def test_overrides_take_the_place_of_the_jobs_own_parameters(make, place):
    text = "[global]\nfilename=/dev/sdz\nreadwrite=write\n[a]\nsize=4m\n[b]\ndirectory=/nowhere\n"
    override = {"filename": "data", "size": "1m", "rw": "read", "directory": "sub", "thread": True}
    workload = make(text, override=override)
    workload.check_target(NO_TARGET)
    measured = trial(workload, place)
    assert measured.figures[BYTES] == 2 * MIB
    assert "write_bandwidth" not in measured.figures
    assert (place.directory / "sub" / "data").stat().st_size == MIB
    assert fio.FioOptions.model_validate(workload.options.model_dump(mode="json")) == (
        workload.options
    )


@needs_fio
def test_a_name_of_all_jobs_is_no_job(make, place):
    text = "[global]\nname=all\nfilename=data\nrw=write\n[one]\nsize=1m\n"
    measured = trial(make(text, override={"size": "64k"}), place)
    assert measured.figures[BYTES] == 64 << 10


@needs_fio
@pytest.mark.parametrize("override", [{}, {"size": "256k"}])
def test_each_job_obeys_the_global_sections_before_it_and_its_own_name(make, place, override):
    text = (
        "[global]\nsize=256k\nrw=read\nbs=4k\ndirectory=.\n[job1]\nname=lookups\n"
        "[global]\nrw=write\nbs=64k\n[job2]\nname=inserts\nstonewall\n"
    )
    reads, writes = trial(make(text, override=override), place).parts
    assert (reads.labels["job"], writes.labels["job"]) == ("lookups", "inserts")
    assert "write_iops" not in reads.figures and "read_iops" not in writes.figures
    assert {path.name for path in place.directory.iterdir()} == {"job1.0.0", "job2.0.0"}


@needs_fio
def test_other_parameters_than_requested_are_an_error_that_names_both(make, place, fake):
    fake(f'sed s/bs=4k/bs=8k/ | {shutil.which("fio")} "$@"')
    with pytest.raises(WorkloadError, match=r"'bs': '4k'.*\n.*'bs': '8k'"):
        trial(make(READING), place)


@needs_fio
def test_engine_parameters_and_jobs_that_start_later_run_and_are_noted(make, place):
    text = "[a]\nhipri=0\nioengine=io_uring\nsize=64k\n[b]\nwait_for=a\nsize=64k\n"
    *_, note = trial(make(text), place).notes
    assert note.startswith("b started later (wait_for")


@needs_fio
def test_included_files_are_overridden_too(make, place, tmp_path):
    (tmp_path / "inc.fio").write_text("filename=/dev/sdz\n")
    workload = make("[x]\nsize=64k\ninclude inc.fio\n", override="filename=data rw=write")
    workload.check_target(NO_TARGET)
    assert trial(workload, place).figures[BYTES] == 64 << 10


@needs_fio
@pytest.mark.parametrize(
    ("override", "found"),
    [
        ({"name": "x"}, "no parameter of a job"),
        ({"size": "1m\nexec_prerun=true"}, "does not fit in a line"),
        ({"size": ["1m"]}, "not a text"),
        ({"exec_prerun": "true"}, "shell"),
        ({"filename": "/dev/sdz"}, "outside of the target"),
        ({"colour": "red"}, "fio says: .*Bad option <colour=red>"),
    ],
)
def test_overrides_are_checked_as_the_job_file_is(make, override, found):
    with pytest.raises((UsageError, ValueError), match=found):
        make(READING, override=override).check_target(NO_TARGET)


@needs_fio
def test_only_reads_of_the_studys_own_device_are_accepted(make):
    device = next(iter(sorted(Path("/dev").glob("loop[0-9]"))), None)
    if device is None or not device.is_block_device():
        pytest.skip("no loop device")
    reading = f"[x]\nfilename={device}\nsize=1m\nrw=read\n"
    make(reading).check_target(TargetPaths(device=device))
    with pytest.raises(UsageError, match="a write would destroy"):
        make(reading.replace("=read", "=write")).check_target(TargetPaths(device=device))
    with pytest.raises(UsageError, match="outside of the target"):
        make(reading).check_target(TargetPaths(device=Path("/dev/null")))


@needs_fio
def test_a_job_without_an_end_ends_at_the_limit(make, place):
    measured = trial(make("[x]\nrw=read\nsize=1m\nloops=1000000000\n", limit="1s"), place)
    assert measured.figures["bandwidth"] > 0
    assert 0.9 < measured.figures["exec_time"] < 20
    assert measured.notes[-1] == "a job did not end by itself and ended at the limit of 1.0 s"


@needs_fio
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[x]\nrw=sideways\n", "fio says: .*failed parsing rw=sideways"),
        ("[x]\nrw=read\ncolour=red\n", "fio says: .*Bad option <colour=red>"),
        ("hello", "fio says: .*outside of"),
        ("", "it has no job"),
        ("[global]\nsize=1m\n", "it has no job"),
    ],
)
def test_a_file_that_is_no_job_file_is_refused_with_fios_words(make, text, found):
    with pytest.raises(UsageError, match=found):
        make(text).check()


@needs_fio
def test_a_missing_job_file_is_refused_and_the_ready_made_are_named(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    found_at = {"no.fio": "No such file", ".": "Is a directory", "fifo": "no regular file"}
    for job, found in found_at.items():
        with pytest.raises(UsageError, match=rf"{found}[^$]*random-read\.fio"):
            fio.FIO.make(fio.FioOptions(job=str(tmp_path / job))).check()


def test_without_fio_it_is_said_how_to_install_it(make, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match=re.escape("apt-get install fio, or dnf install fio")):
        make(READING).check()


@needs_fio
def test_vanished_folder_is_reported(make, place):
    workload = make(READING)
    place.directory.rmdir()
    with pytest.raises(WorkloadError, match="No such file"):
        workload.run(place)
    workload.clean(place)


def test_a_job_file_of_ones_own_goes_before_a_ready_made_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert fio_job.find_job_file("random-read.fio").parent == fio_job.READY_MADE
    (tmp_path / "random-read.fio").touch()
    assert fio_job.find_job_file("random-read.fio") == tmp_path / "random-read.fio"
