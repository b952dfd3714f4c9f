"""Steady runs of workloads in a thread, and the figures of their windows."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, current_thread, main_thread

import pytest

from iostudy.errors import WorkloadError
from iostudy.workloads import catalog
from iostudy.workloads.native.io import IO
from iostudy.workloads.windows import Window, required_operations
from iostudy.workloads.workload import Place

WIDTH = 0.05
SMALL = {"size": "1MiB", "record_size": "4KiB", "order": "random"}


def make(**options):
    return IO.make(IO.options.model_validate(SMALL | options))


@contextmanager
def running(workload, folder):
    """The steady run in a thread that is not the main one; it must end without an error."""
    stop = Event()
    place = Place(folder, seed=7, tick=lambda _: not stop.is_set())
    workload.prepare(place)
    workload.reset(place)
    run = workload.steady_run(place)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(run.run)
        try:
            yield run
        finally:
            stop.set()
        future.result()
    workload.clean(place)


def open_adjacent(run, count):
    start = time.monotonic() + 0.1
    windows = [Window(start + n * WIDTH, start + (n + 1) * WIDTH) for n in range(count)]
    for window in windows:
        run.meter.open(window)
    return windows


def collect(run, count):
    counts = []
    while len(counts) < count:
        counts += run.meter.completed()
        time.sleep(0.01)
    return counts


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"operation": "mix", "jobs": 2, "duration": "1ms", "ramp": "1h"},
        {"operation": "write", "overwrite": True, "sync": "fdatasync", "sync_every": 4},
        {"engine": "io_uring", "depth": 4, "total": "8KiB"},
    ],
    ids=str,
)
def test_a_run_repeats_itself_and_its_windows_have_the_named_figures(options, tmp_path):
    workload = make(**options)
    with running(workload, tmp_path) as run:
        windows = open_adjacent(run, 6)
        counts = collect(run, 6)
    assert [each.window for each in counts] == windows
    named = set(IO.window_figures(workload.options))
    assert named <= {figure.name for figure in IO.figures(workload.options)}
    for each in counts:
        assert set(each.figures) <= named
    assert any(set(each.figures) >= {"bandwidth", "iops"} for each in counts)


def test_rates_are_counts_over_the_length_of_the_window(tmp_path):
    with running(make(), tmp_path) as run:
        open_adjacent(run, 4)
        for each in collect(run, 4):
            assert each.figures["iops"] == pytest.approx(each.operations / WIDTH)
            assert each.figures["bandwidth"] == pytest.approx(each.operations / WIDTH / 256)


def test_a_percentile_needs_enough_operations(tmp_path):
    with running(make(arrival="even", rate=600), tmp_path) as run:
        open_adjacent(run, 6)
        counts = collect(run, 6)
    for each in counts:
        present = {name for name in each.figures if name.startswith("read_latency")}
        expected = {
            f"read_latency_p{percentile:g}"
            for percentile in (50, 95, 99, 99.9)
            if each.operations >= required_operations(percentile)
        }
        assert present == expected
    assert any("read_latency_p50" in each.figures for each in counts)
    assert not any("read_latency_p99" in each.figures for each in counts)


def test_windows_open_ahead_and_in_order(tmp_path):
    run = make().steady_run(Place(tmp_path, seed=7))
    now = time.monotonic()
    with pytest.raises(ValueError, match="in the past"):
        run.meter.open(Window(now - 1, now + 10))
    run.meter.open(Window(now + 10, now + 20))
    with pytest.raises(ValueError, match="before the end of the window"):
        run.meter.open(Window(now + 19, now + 30))
    with pytest.raises(ValueError, match="not after its start"):
        run.meter.open(Window(now + 30, now + 30))


def test_a_slow_down_can_change_while_it_runs(tmp_path):
    assert IO.switchable_options == {"slow_down"}
    options = {"direct": True, "think": "0s"}
    run = make(**options).steady_run(Place(tmp_path, seed=7))
    run.set_option("slow_down", "5%")
    with pytest.raises(ValueError, match="jobs cannot change while the workload runs"):
        run.set_option("jobs", "2")
    with pytest.raises(ValueError, match="less than 1"):
        run.set_option("slow_down", "100%")
    buffered = make().steady_run(Place(tmp_path, seed=7))
    with pytest.raises(ValueError, match="one record in flight and direct"):
        buffered.set_option("slow_down", "5%")


def test_a_signal_is_handled_in_the_main_thread_while_another_one_runs(tmp_path):
    handled = []
    before = signal.signal(signal.SIGUSR1, lambda *_: handled.append(current_thread()))
    try:
        with running(make(), tmp_path) as run:
            open_adjacent(run, 2)
            signal.raise_signal(signal.SIGUSR1)
            assert len(collect(run, 2)) == 2
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert handled == [main_thread()]


def test_a_failed_run_is_an_error(tmp_path):
    run = make().steady_run(Place(tmp_path, seed=7))
    with pytest.raises(WorkloadError, match="No such file"):
        run.run()


def test_files_removed_during_a_run_are_an_error(tmp_path):
    workload = make()
    removed = pytest.raises(WorkloadError, match="to find the files")
    with removed, running(workload, tmp_path) as run:
        open_adjacent(run, 1)
        collect(run, 1)
        workload.clean(Place(tmp_path, seed=7))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"operation": "write"}, "overwrite"),
        ({"operation": "mix", "sync": "fsync"}, "sync_every"),
        ({}, "page cache"),
        ({"operation": "write", "overwrite": True}, "before they reach the device"),
    ],
    ids=str,
)
def test_a_run_that_ends_by_itself_has_no_steady_state(options, reason):
    assert reason in make(**options).unsteady_reason()


@pytest.mark.parametrize(
    "options", [{"direct": True}, {"operation": "write", "overwrite": True, "dsync": True}], ids=str
)
def test_io_that_reaches_the_device_has_a_steady_state(options):
    assert not make(**options).unsteady_reason()


FILES = {"files": 2, "size": "256KiB", "record_size": "16KiB", "direct": True}


@pytest.mark.parametrize("options", [{}, {"operation": "write", "overwrite": True}], ids=str)
def test_files_are_moved_again_and_again(options, tmp_path):
    check_repetition("io", FILES | options, tmp_path)


def check_repetition(name, options, folder):
    """The workload has windows with the figures that it promises, and leaves nothing."""
    definition = catalog.get(name)
    workload = definition.make(definition.options.model_validate(options))
    assert not workload.unsteady_reason()
    with running(workload, folder) as run:
        first = first_count(run)
        with pytest.raises(ValueError, match="size cannot change"):
            run.set_option("size", "1MiB")
    named = set(definition.window_figures(workload.options))
    assert named <= {figure.name for figure in definition.figures(workload.options)}
    assert set(first.figures) <= named
    assert {name for name in named if "latency" not in name} <= set(first.figures)
    assert not list(folder.iterdir())


def first_count(run):
    """The first of adjacent windows in which something completed; the disk may stall."""
    while True:
        open_adjacent(run, 1)
        (count,) = collect(run, 1)
        if count.operations:
            return count
