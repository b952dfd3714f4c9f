"""Jobs that read events and compute: figures, data that are verified, limits, faults."""

from __future__ import annotations

import math
import resource
import signal
import subprocess
import time
from dataclasses import replace

import pytest
from pydantic import ValidationError

from iostudy import _native
from iostudy.errors import WorkloadError, WorkloadStoppedError
from iostudy.workloads import catalog
from iostudy.workloads.workload import Place
from iostudy_hep import events
from tests.cli.program import Program, exists_below
from tests.workloads.test_windows import check_repetition

SMALL = {"jobs": 3, "events": 4, "event_size": "64KiB", "reads": 5, "compute": "2ms"}


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, seed=7)


def make(**options):
    definition = catalog.get("events")
    return definition.make(definition.options.model_validate(SMALL | options))


def run(workload, place):
    workload.prepare(place)
    try:
        return workload.run(place)
    finally:
        workload.clean(place)
        assert list(place.directory.iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [{}, {"files": 1}, {"files": 2}, {"direct": True}, {"compute_by": "burn"}, {"gap_percent": 0}],
)
def test_all_events_are_read_verified_and_counted(place, options):
    workload = make(**options)
    measured = run(workload, place)
    declared = {figure.name for figure in events.EVENTS.figures(workload.options)}
    assert set(measured.figures) | {"bytes"} == declared
    assert all(math.isfinite(value) and value > 0 for value in measured.figures.values())
    assert measured.figures["events"] == 12
    assert measured.figures.get("bytes", math.inf) >= 12 * 65536
    assert sum(count for _, count in measured.latencies["event"]) == 12
    assert measured.notes == () or measured.notes == (events._NOT_JUDGED,)


def test_rates_and_efficiency_are_those_of_the_events_that_count():
    class FakeResult:
        events = 100
        wall_seconds = 50.0
        job_seconds = (50.0, 30.0)
        read_bytes = 100 * 65536 + 5
        fetched_bytes: int | None = 0
        read_latencies = run_natively().read_latencies

    options = make(compute="200ms").options
    result = FakeResult()
    figures = events._figures(result, options)
    assert figures["event_rate"] == 2.0
    assert figures["read_rate"] == pytest.approx(100 * 65536 / 1e6 / 50)
    assert figures["cpu_efficiency"] == pytest.approx(100 * 20 / 80)
    assert figures["bytes"] == result.read_bytes
    result.fetched_bytes = 10**9
    assert events._figures(result, options)["bytes"] == 10**9
    result.fetched_bytes = None
    assert "bytes" not in events._figures(result, options)
    assert events._NOT_JUDGED in events._notes(result, options)


def run_natively():
    """A device that holds nothing but zeros, read and not compared."""
    options = make().options
    return _native.EventJobs(
        ["/dev/zero"],
        jobs=1,
        events_per_job=1,
        event_bytes=1,
        gap_bytes=2**20,
        reads=1,
        compute="sleep",
        compute_seconds=0.0,
        seconds=options.duration,
        direct=False,
        seed=1,
    ).run()


def test_unfinished_events_do_not_count_and_are_noted(place):
    measured = run(make(compute="150ms", duration="400ms"), place)
    assert 0 < measured.figures["events"] < 12
    assert measured.figures["exec_time"] == pytest.approx(0.4, abs=0.1)
    assert events._TIME_UP in measured.notes


def test_no_event_in_time_is_an_error_and_no_figure(place):
    with pytest.raises(WorkloadError, match="not one was ended in 10ms"):
        run(make(compute="10s", duration="10ms"), place)


def test_the_files_have_room_for_the_events_of_all_jobs():
    one, shared, uneven = make(), make(files=1), make(files=2)
    event_bytes = 65536 + one.options.gap_bytes
    assert one.options.gap_bytes == 16384
    assert one.space_bytes() == shared.space_bytes() == 12 * event_bytes
    assert uneven.space_bytes() == 16 * event_bytes
    assert one.preparation() != shared.preparation()
    assert one.preparation() == make(reads=1, direct=True).preparation()


def test_native_and_python_agree_on_the_size_of_files(place):
    for files in (1, 2, 3):
        options = make(files=files).options
        native = _native.EventJobs(
            ["/nowhere"] * files,
            jobs=options.jobs,
            events_per_job=options.events,
            event_bytes=options.event_size,
            gap_bytes=options.gap_bytes,
            reads=options.reads,
            compute="sleep",
            compute_seconds=0.0,
            seconds=None,
            direct=False,
            seed=0,
        )
        assert native.file_bytes == options.file_bytes


def test_a_file_that_was_cut_is_named_with_its_offset(place):
    workload = make()
    workload.prepare(place)
    with (place.directory / "events-0001").open("r+b") as file:
        file.truncate(100_000)
    with pytest.raises(WorkloadError, match="events-0001 ends at byte 100000"):
        workload.run(place)


def test_changed_data_are_found(place):
    workload = make(gap_percent=0)
    workload.prepare(place)
    with (place.directory / "events-0002").open("r+b") as file:
        file.seek(8192)
        file.write(bytes(16))
    with pytest.raises(WorkloadError, match=r"events-0002 differs .* at byte 8192"):
        workload.run(place)


def test_data_of_another_block_are_not_taken_for_its_own(place):
    workload = make()
    workload.prepare(place)
    with pytest.raises(WorkloadError, match="read back what was written"):
        workload.run(replace(place, seed=8))


def test_vanished_file_is_an_error_and_cleaning_continues(place):
    workload = make()
    workload.prepare(place)
    (place.directory / "events-0000").unlink()
    with pytest.raises(WorkloadError, match="No such file"):
        workload.run(place)
    workload.clean(place)
    assert list(place.directory.iterdir()) == []


def test_a_file_that_is_removed_while_it_is_read_gives_no_figure(place):
    workload = make(compute="150ms", duration="400ms")
    workload.prepare(place)
    path = place.directory / "events-0000"

    def remove(done):
        if done:
            path.unlink(missing_ok=True)
        return True

    with pytest.raises(WorkloadError, match="events-0000"):
        workload.run(replace(place, tick=remove))


def test_a_tick_that_says_no_stops_all(place):
    workload = make(compute="10min")
    workload.prepare(place)
    with pytest.raises(WorkloadStoppedError):
        workload.run(replace(place, tick=lambda done: done == 0))


def test_too_few_open_files_are_reported_at_the_start(monkeypatch, place):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 64))
    with pytest.raises(WorkloadError, match="80 jobs"):
        make(jobs=80).run(place)


@pytest.mark.root
def test_missing_space_has_a_remedy(place):
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tiny", place.directory]
    subprocess.run(command, check=True)
    try:
        workload = make(events=1000)
        with pytest.raises(WorkloadError, match="No space left on device") as caught:
            workload.prepare(place)
        assert "make room" in caught.value.remedy
        workload.clean(place)
        assert list(place.directory.iterdir()) == []
    finally:
        subprocess.run(["umount", place.directory], check=True)


@pytest.mark.child
def test_a_signal_stops_all_and_nothing_is_left(tmp_path):
    program = Program(tmp_path)
    (tmp_path / "out").mkdir()
    given = SMALL | {"compute": "10min", "duration": "10min"}
    options = [word for key, value in given.items() for word in ("-o", f"{key}={value}")]
    process = program.start("bench", "events", "--target", "out", *options)
    while process.poll() is None and not exists_below(tmp_path, "events-0002"):
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    try:
        _, stderr = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [
        {"jobs": 0},
        {"files": 4},
        {"files": 0},
        {"events": 0},
        {"duration": 0},
        {"duration": "0s"},
        {"event_size": 0},
        {"reads": 0},
        {"reads": 20, "event_size": 10},
        {"gap_percent": 100},
        {"compute": "-1s"},
        {"compute_by": "think"},
        {"direct": True, "event_size": 5000, "reads": 1},
        {"direct": True, "event_size": "8KiB", "reads": 3},
    ],
)
def test_options_that_cannot_work_are_refused(options):
    with pytest.raises(ValidationError):
        make(**options)


def test_jobs_repeat_their_events(tmp_path):
    options = {"jobs": 3, "files": 2, "events": 2, "event_size": "64KiB", "compute": "1ms"}
    check_repetition("events", options | {"direct": True}, tmp_path)
    assert "page cache" in make().unsteady_reason()


def test_a_long_time_of_computing_is_refused():
    with pytest.raises(ValidationError, match="at most 1h"):
        make(compute="2h")
