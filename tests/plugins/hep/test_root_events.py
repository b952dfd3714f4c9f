"""Tests of jobs that read real ROOT files with uproot, and of the error without it."""

from __future__ import annotations

import math
import os
import subprocess
from dataclasses import replace

import pytest
from pydantic import ValidationError

from iostudy.errors import UsageError, WorkloadError, WorkloadStoppedError
from iostudy.workloads import catalog
from iostudy.workloads.workload import Place
from iostudy_hep import root_events

SMALL = {"jobs": 3, "events": 20, "step": 2, "event_size": "16KiB", "columns": 4, "compute": "1ms"}
ROWS_BYTES = 20 * 16384


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, seed=7)


def make(**options):
    definition = catalog.get("root-events")
    return definition.make(definition.options.model_validate(SMALL | options))


@pytest.mark.parametrize(
    "options",
    [
        {"jobs": 0},
        {"step": 0},
        {"events": 0},
        {"columns": 0},
        {"duration": "0s"},
        {"tree": "Events"},
    ],
)
def test_options_that_cannot_work_are_refused(options):
    with pytest.raises(ValidationError):
        make(**options)


@pytest.mark.parametrize("options", [{}, {"jobs": 1}, {"step": 7}, {"jobs": 50}])
def test_every_event_is_read_once_and_verified(place, options):
    workload = make(**options)
    workload.check()
    workload.prepare(place)
    (path,) = place.directory.iterdir()
    assert ROWS_BYTES < path.stat().st_size < workload.space_bytes()
    measured = workload.run(place)
    declared = {figure.name for figure in root_events.ROOT_EVENTS.figures(workload.options)}
    assert set(measured.figures) == declared
    assert all(math.isfinite(value) and value > 0 for value in measured.figures.values())
    assert measured.figures["events"] == 20
    assert measured.figures["bytes"] >= ROWS_BYTES
    workload.clean(place)
    assert list(place.directory.iterdir()) == []


def test_branches_are_chosen_and_their_bytes_are_not_all(place):
    workload = make(branches="column0001")
    workload.prepare(place)
    measured = workload.run(place)
    assert "bytes" not in measured.figures
    read_bytes = measured.figures["read_rate"] * 1e6 * measured.figures["exec_time"]
    assert ROWS_BYTES / 4 < read_bytes < ROWS_BYTES


def test_unfinished_events_do_not_count(place):
    workload = make(jobs=1, step=1, compute="100ms", duration="550ms")
    workload.prepare(place)
    measured = workload.run(place)
    assert 0 < measured.figures["events"] < 20
    assert measured.figures["exec_time"] == pytest.approx(0.55, abs=0.1)
    with pytest.raises(WorkloadError, match="none was ended in 10ms"):
        make(compute="1s", duration="10ms").run(place)


def test_a_file_of_the_users_own_is_read_and_kept(place):
    make().prepare(place)
    own = place.directory.parent / "own.root"
    (place.directory / "events.root").rename(own)
    workload = make(file=own, tree="Events", jobs=2)
    workload.check()
    assert workload.space_bytes() == 0
    workload.prepare(place)
    workload.reset(place)
    measured = workload.run(place)
    assert measured.figures["events"] == 20
    assert "bytes" not in measured.figures
    workload.clean(place)
    assert own.exists()


def test_invalid_tree_fails_before_the_run(tmp_path):
    (tmp_path / "text.root").write_text("no ROOT file at all")
    make().prepare(Place(tmp_path, 7))
    for name, tree, found in [
        ("text.root", None, "received 19 bytes"),
        ("none.root", None, "file not found"),
        ("events.root", "Evnts", "its trees are: Events"),
    ]:
        with pytest.raises(UsageError, match=found):
            make(file=tmp_path / name, tree=tree).check()


def test_changed_cut_and_foreign_data_are_found(place):
    workload = make(jobs=1)
    workload.prepare(place)
    with pytest.raises(WorkloadError, match="event 0 differs from what was written"):
        workload.run(replace(place, seed=8))
    path = place.directory / "events.root"
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    with pytest.raises(WorkloadError, match=r"column\d+ of event \d+ differs"):
        workload.run(place)


def test_a_tick_that_says_no_stops_making_and_reading(place):
    stopped = replace(place, tick=lambda _: False)
    with pytest.raises(WorkloadStoppedError):
        make().prepare(stopped)
    workload = make(compute="10min")
    workload.prepare(place)
    with pytest.raises(WorkloadStoppedError):
        workload.run(stopped)
    workload.clean(place)
    assert list(place.directory.iterdir()) == []


def test_a_cut_and_a_vanished_file_are_errors_of_the_trial(place):
    workload = make()
    workload.prepare(place)
    path = place.directory / "events.root"
    os.truncate(path, path.stat().st_size * 3 // 4)
    with pytest.raises(WorkloadError):
        workload.run(place)
    path.unlink()
    with pytest.raises(WorkloadError, match="file not found"):
        workload.run(place)
    workload.clean(place)


@pytest.mark.root
def test_missing_space_has_a_remedy(place):
    command = ["mount", "-t", "tmpfs", "-o", "size=100k", "tiny", place.directory]
    subprocess.run(command, check=True)
    try:
        workload = make()
        with pytest.raises(WorkloadError, match="No space left on device") as caught:
            workload.prepare(place)
        assert "make room" in caught.value.remedy
        workload.clean(place)
        assert list(place.directory.iterdir()) == []
    finally:
        subprocess.run(["umount", place.directory], check=True)


def test_the_own_file_is_compared_by_size_and_time(tmp_path):
    path = tmp_path / "own.root"
    path.write_bytes(b"1")
    workload = make(file=str(path))
    ((name, before),) = workload.contents()
    assert name == str(path)
    path.write_bytes(b"12")
    assert list(workload.contents()) != [(name, before)]
    assert not make().contents()
