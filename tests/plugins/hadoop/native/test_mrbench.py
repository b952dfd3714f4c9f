"""Tiny jobs: every one gives the sorted input, leaves its output alone, and is timed."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from iostudy.errors import WorkloadError, WorkloadStoppedError
from iostudy.workloads.workload import Place
from iostudy_hadoop.native import mrbench, mrbench_job, mrbench_task
from iostudy_hadoop.native.mrbench import MrbenchOptions

pytestmark = pytest.mark.child


def make(**options):
    return mrbench.MRBENCH.make(MrbenchOptions.model_validate(options))


def begun(place, **options):
    workload = make(**options)
    workload.prepare(place)
    workload.reset(place)
    return workload


@pytest.mark.parametrize("order", ["ascending", "descending", "random"])
def test_the_output_is_the_sorted_input(place, order):
    workload = begun(place, jobs=1, maps=3, reduces=2, input_lines=100, input_type=order)
    workload.run(place)
    given_lines = (place.directory / "mr_input" / "input.txt").read_bytes().splitlines()
    assert len(given_lines) == 100
    output = place.directory / "mr_output" / "job_000000"
    assert sorted(p.name for p in output.iterdir()) == ["_SUCCESS", "part-r-00000", "part-r-00001"]
    parts = [(output / f"part-r-0000{i}").read_bytes().splitlines() for i in (0, 1)]
    assert all(part == sorted(part) and part for part in parts)
    assert sorted(parts[0] + parts[1]) == sorted(given_lines)


def test_the_input_is_that_of_mrbench():
    def lines(**options):
        return list(mrbench._lines(MrbenchOptions.model_validate(options), seed=1))

    assert lines(input_lines=10)[::9] == [b"00\n", b"09\n"]
    assert lines(input_lines=10, input_type="descending")[::9] == [b"10\n", b"01\n"]
    drawn = lines(input_lines=50, input_type="random")
    assert all(-(2**63) <= int(line) < 2**63 for line in drawn)
    assert drawn == lines(input_lines=50, input_type="random")


def test_figures_are_those_of_the_jobs(place):
    workload = begun(place, jobs=4, maps=2, reduces=1)
    measured = workload.run(place)
    figures = measured.figures
    assert set(figures) == {figure.name for figure in mrbench.MRBENCH.figures(workload.options)}
    assert 0 < figures["job_time_min"] <= figures["job_time_median"] <= figures["job_time_max"]
    assert figures["job_time_min"] <= figures["job_time"] <= figures["job_time_max"]
    assert 0 < figures["task_start"] < figures["job_time_max"]
    assert 0 < figures["start_share"] + figures["storage_share"] <= 100
    counts = {name: sum(c for _, c in found) for name, found in measured.latencies.items()}
    # Each job: its staging, 2 maps, a reduce, its commit.
    assert counts == {
        "job": 4,
        "create": 4 * (2 + 2 * 2 + 1 + 1),
        "commit": 4 * (1 + 2 + 1 + 1),
        "read": 4 * (2 * 2 + 2 * 2),
    }


def test_nothing_but_input_and_output_stays_and_reset_removes_that(place):
    workload = begun(place, jobs=2)
    workload.run(place)
    outputs = sorted(path.name for path in (place.directory / "mr_output").iterdir())
    assert outputs == ["job_000000", "job_000001"]
    left = [p for p in place.directory.rglob("*") if p.is_file() and "mr_output" not in p.parts]
    assert left == [place.directory / "mr_input" / "input.txt"]
    workload.reset(place)
    assert [p.name for p in place.directory.iterdir()] == ["mr_input"]
    workload.run(place)
    workload.clean(place)
    assert not list(place.directory.iterdir())


def test_sync_makes_files_and_renames_durable(tmp_path, monkeypatch):
    synced = []

    def fsync(descriptor):
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink())

    monkeypatch.setattr(os, "fsync", fsync)
    for sync in (False, True):
        assert not synced
        storage = mrbench_task.Storage(sync=sync)
        folder = tmp_path / str(sync)
        storage.create(f"{folder}/a", b"x")
        storage.commit(f"{folder}/a", f"{folder}/b")
    assert synced == [folder / "a", folder]


@pytest.mark.parametrize("damage", ["cut", "changed", "unsorted", "missing"])
def test_output_that_is_not_the_sorted_input_is_found(place, monkeypatch, damage):
    workload = begun(place, jobs=2, input_lines=5)
    real = mrbench_job.MrBenchJob._commit

    def damaged(job, storage):
        real(job, storage)
        path = Path(job.output) / "part-r-00000"
        content = path.read_bytes()
        new = {"cut": content[:-2], "changed": b"7" + content[1:], "unsorted": b"4\n3\n2\n1\n0\n"}
        if damage in new:
            path.write_bytes(new[damage])
        else:
            path.unlink()

    monkeypatch.setattr(mrbench_job.MrBenchJob, "_commit", damaged)
    with pytest.raises(WorkloadError) as caught:
        workload.run(place)
    assert "job_000000" in str(caught.value)
    workload.clean(place)


def test_a_stop_between_jobs_leaves_no_figure(place):
    workload = begun(place, jobs=100)
    done = []

    def tick(jobs):
        done.append(jobs)
        return jobs < 1

    with pytest.raises(WorkloadStoppedError, match="after 1 of them"):
        workload.run(Place(place.directory, place.seed, tick))
    workload.clean(place)
    assert not list(place.directory.iterdir())


def tasks_of(directory):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(directory).encode() in line and b"mrbench_task" in line:
                found.append(int(entry.name))
    return found


def test_a_signal_leaves_no_task_behind(place, monkeypatch, tmp_path):
    hanging = tmp_path / "mrbench_task_hanging.py"
    hanging.write_text("import time; time.sleep(3333)")
    workload = begun(place, jobs=1, maps=3)
    monkeypatch.setattr(mrbench_task, "__file__", str(hanging))
    calls = []

    def tick(_):
        calls.append(1)
        if len(calls) > 2:
            assert len(tasks_of(place.directory)) == 3
            signal.raise_signal(signal.SIGINT)
        return True

    with pytest.raises(KeyboardInterrupt):
        workload.run(Place(place.directory, place.seed, tick))
    assert not tasks_of(place.directory)


def test_refusal_in_a_task_is_reported_as_its_error(place):
    workload = begun(place, jobs=1)
    (place.directory / "mr_input" / "input.txt").unlink()
    with pytest.raises(WorkloadError, match=r"No such file or directory \(.*input\.txt\)"):
        workload.run(place)


def test_dead_task_is_reported(place, monkeypatch, tmp_path):
    dying = tmp_path / "dying.py"
    dying.write_text("import sys; sys.exit('out of luck')")
    workload = begun(place, jobs=1)
    monkeypatch.setattr(mrbench_task, "__file__", str(dying))
    with pytest.raises(WorkloadError, match="exit code 1; it printed: out of luck"):
        workload.run(place)


def test_vanished_folder_is_reported(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    place = Place(gone, seed=1)
    workload = begun(place, jobs=1)
    workload.clean(place)
    gone.rmdir()
    with pytest.raises(WorkloadError):
        workload.run(place)


@pytest.mark.root
def test_full_disk_has_a_remedy(tmp_path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", tmp_path], check=True)
    try:
        place = Place(tmp_path / "work", seed=1)
        place.directory.mkdir()
        with pytest.raises(WorkloadError, match=r"No space left[^$]*make room"):
            begun(place, jobs=100).run(place)
        make().clean(place)
        assert not list(place.directory.iterdir())
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_required_space_has_a_reserve(place):
    workload = begun(place, jobs=3, maps=4, reduces=3, input_lines=1000, input_type="random")
    workload.run(place)
    used = sum(path.stat().st_blocks * 512 for path in place.directory.rglob("*"))
    assert used <= workload.space_bytes() < 8 * used


@given(st.lists(st.integers(0, 30).map(lambda n: b"x" * n + b"\n")), st.integers(1, 9))
def test_splits_are_the_input_line_by_line(lines, maps):
    splits = mrbench_job._splits(lines, maps)
    assert len(splits) == maps
    assert b"".join(splits) == b"".join(lines)
    assert all(not split or split.endswith(b"\n") for split in splits)


@given(st.lists(st.binary()))
def test_stretches_are_found_at_their_offsets(contents):
    written = mrbench_task.format_partitions(contents)
    whole = b"".join(contents)
    for index, content in enumerate(contents):
        offset, length = mrbench_task._stretch(written, index)
        assert whole[offset : offset + length] == content


def test_a_folder_with_an_odd_name_is_a_folder(tmp_path):
    folder = tmp_path / "a = b; $(touch c) ü"
    folder.mkdir()
    begun(Place(folder, 1), jobs=1).run(Place(folder, 1))


@pytest.mark.parametrize(
    "options",
    [
        {"jobs": 0},
        {"maps": 0},
        {"reduces": 0},
        {"input_lines": 0},
        {"input_lines": "2M"},
        {"input_type": "sideways"},
        {"num_runs": 1},
    ],
)
def test_options_that_cannot_work_are_refused(options):
    with pytest.raises(ValidationError):
        make(**options)
