"""Windows of programs by device counters: exact differences, programs that end, trials."""

from __future__ import annotations

import shutil
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from pydantic import ValidationError

from iostudy.errors import TargetError, WorkloadError, WorkloadStoppedError
from iostudy.workloads.external.command import COMMAND
from iostudy.workloads.external.device_windows import DeviceCounters, DeviceMeter
from iostudy.workloads.external.fio import FIO
from iostudy.workloads.windows import Window
from iostudy.workloads.workload import Place

MIB = 1 << 20
WRITER = (
    "while :; do dd if=/dev/zero of=$IOSTUDY_TARGET/zeros bs=64K count=16 conv=notrunc,fsync "
    "2>/dev/null; done"
)


def counters(tmp_path, reads=0, sectors_read=0, writes=0, sectors_written=0):
    row = [reads, 7, sectors_read, 9, writes, 7, sectors_written, 9, 1, 5, 5, 100, 0, 800, 3]
    path = tmp_path / "stat"
    new = tmp_path / "new"
    new.write_text(" ".join(map(str, row)) + "\n")
    new.replace(path)
    return DeviceCounters((path,))


def test_a_window_is_the_difference_of_two_readings_over_their_own_times(tmp_path):
    meter = DeviceMeter(counters(tmp_path))
    start = time.monotonic() + 0.1
    windows = [Window(start, start + 0.2), Window(start + 0.2, start + 0.4)]
    for window in windows:
        meter.open(window)
    with meter.counting():
        time.sleep(max(0.0, start + 0.1 - time.monotonic()))
        counters(tmp_path, reads=3, sectors_read=4096, writes=5, sectors_written=8192)
        time.sleep(max(0.0, start + 0.6 - time.monotonic()))
    first, second = meter.completed()
    assert [first.window, second.window] == windows
    assert (first.operations, second.operations) == (8, 0)
    # 2 MiB read and 4 MiB written in 0.2 s; readings may be late on a busy machine.
    assert first.figures["write_bandwidth"] == pytest.approx(20, rel=0.5)
    assert first.figures["read_bandwidth"] * 2 == pytest.approx(first.figures["write_bandwidth"])
    assert first.figures["bandwidth"] == pytest.approx(1.5 * first.figures["write_bandwidth"])
    assert set(second.figures.values()) == {0.0}
    assert not meter.completed()


def test_windows_open_ahead_and_in_order(tmp_path):
    meter = DeviceMeter(counters(tmp_path))
    now = time.monotonic()
    for start, end, reason in [(now - 1, now + 1, "past"), (now + 5, now + 5, "not after")]:
        with pytest.raises(ValueError, match=reason):
            meter.open(Window(start, end))
    meter.open(Window(now + 5, now + 6))
    with pytest.raises(ValueError, match="before the end of the window"):
        meter.open(Window(now + 5.5, now + 7))


def test_counters_that_vanish_are_an_error(tmp_path):
    meter = DeviceMeter(DeviceCounters((tmp_path / "missing",)))
    meter.open(Window(time.monotonic() + 0.05, time.monotonic() + 0.1))
    with pytest.raises(WorkloadError, match="counters"), meter.counting():
        time.sleep(0.2)


def test_memory_has_no_counters():
    with pytest.raises(TargetError):
        DeviceCounters.below("/dev/shm")


def command(**options):
    shell = {"run": WRITER, "shell": True, "steady": True}
    return COMMAND.make(COMMAND.options.model_validate(shell | options))


@contextmanager
def running(workload, folder):
    stop = threading.Event()
    place = Place(folder, seed=7, tick=lambda _: not stop.is_set())
    run = workload.steady_run(place)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run.run)
        try:
            yield run
        finally:
            stop.set()
        future.result()


def window_with_writes(run, future_seconds=20):
    deadline = time.monotonic() + future_seconds
    while time.monotonic() < deadline:
        start = time.monotonic() + 0.05
        run.meter.open(Window(start, start + 0.3))
        while not (counts := run.meter.completed()):
            time.sleep(0.02)
        if counts[0].figures["write_bandwidth"] > 0:
            return counts[0]
    raise AssertionError("nothing was written")


@pytest.mark.child
def test_a_steady_command_is_measured_by_the_devices(tmp_path):
    workload = command()
    assert not workload.unsteady_reason()
    with running(workload, tmp_path) as run:
        count = window_with_writes(run)
    assert set(count.figures) == set(COMMAND.window_figures(workload.options))
    assert count.operations > 0


@pytest.mark.child
def test_a_trial_of_a_steady_command_is_one_window(tmp_path):
    workload = command(duration="300ms")
    figures = workload.run(Place(tmp_path, seed=7)).figures
    assert set(figures) == {figure.name for figure in COMMAND.figures(workload.options)}
    with pytest.raises(WorkloadStoppedError):
        command().run(Place(tmp_path, seed=7, tick=lambda _: False))


@pytest.mark.child
def test_a_program_that_ends_by_itself_is_an_error(tmp_path):
    run = command(run="true").steady_run(Place(tmp_path, seed=7))
    with pytest.raises(WorkloadError, match="ended by itself"):
        run.run()


def test_a_command_is_steady_where_the_user_says_so():
    assert "steady: true" in command(steady=False).unsteady_reason()
    assert not COMMAND.window_figures(command(steady=False).options)
    with pytest.raises(ValidationError, match="leave figures out"):
        command(figures={"speed": {"regex": "(.*)", "unit": "MiB/s", "higher_is_better": True}})


@pytest.mark.child
@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
def test_fio_repeats_jobs_of_any_size_and_runtime(tmp_path):
    job = tmp_path / "short.fio"
    job.write_text(
        "[global]\nsize=1m\nruntime=1\ndirect=1\noverwrite=1\n"
        "[write]\nrw=write\nbs=64k\nfsync=4\n[more]\n"
    )
    target = tmp_path / "target"
    target.mkdir()
    workload = FIO.make(FIO.options.model_validate({"job": str(job)}))
    assert not workload.unsteady_reason()
    with running(workload, target) as run:
        time.sleep(1.2)
        count = window_with_writes(run)
    assert set(count.figures) == set(FIO.window_figures(workload.options))
