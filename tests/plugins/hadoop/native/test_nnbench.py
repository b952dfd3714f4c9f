"""NNBench's phases: what they measure, what they verify, and what they leave behind."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from iostudy.errors import WorkloadError, WorkloadStoppedError
from iostudy.workloads.option_text import format_options
from iostudy.workloads.workload import Place
from iostudy_hadoop.native import nnbench
from tests.fixtures_loop import loop_disk

MIB = 1 << 20
EVERYTHING = ["create_write", "mkdir", "stat", "list", "open_read", "rename", "delete", "rmdir"]


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path, seed=7)


def make(**options):
    small = {"threads": 2, "files": 30, "files_per_directory": 20, "sync": "none"}
    return nnbench.NNBench(nnbench.NNBenchOptions.model_validate(small | options))


def files(place):
    return sorted(path for path in place.directory.rglob("*") if path.is_file())


def test_every_phase_has_its_rate_and_latencies(place):
    workload = make(operations=EVERYTHING, bytes_to_write="10kB")
    workload.reset(place)
    measured = workload.run(place)
    assert list(measured.figures) == [f.name for f in nnbench._figures(workload.options)]
    assert all(value > 0 and math.isfinite(value) for value in measured.figures.values())
    counts = {
        name: sum(count for _, count in buckets) for name, buckets in measured.latencies.items()
    }
    assert counts == dict.fromkeys(EVERYTHING, 60) | {"list": 2 * 3}
    workload.clean(place)
    assert not list(place.directory.iterdir())


def test_the_rate_of_all_is_that_of_their_times_together(place):
    measured = make(operations="create_write, stat").run(place).figures
    times = [60 / measured["create_write_rate"], 60 / measured["stat_rate"]]
    assert measured["exec_time"] == pytest.approx(sum(times))
    assert measured["rate"] == pytest.approx(120 / sum(times))


def test_every_operation_is_documented_without_bytes():
    assert tuple(nnbench._MEANINGS) == get_args(nnbench.Operation)
    assert "bytes" not in [figure.name for figure in nnbench._figures(make().options)]


def test_operations_are_a_list_in_a_study_and_text_on_the_command_line():
    options = make(operations=["stat", "delete"]).options
    assert make(operations="stat,delete").options == options
    assert format_options(options)["operations"] == "stat, delete"


@pytest.mark.parametrize(
    ("operations", "shared"), [(["stat", "open_read"], True), (["list"], False)]
)
def test_trials_that_only_read_share_what_was_prepared_for_them(place, operations, shared):
    workload = make(operations=operations, shared=shared, bytes_to_write=9)
    assert workload.reads()
    workload.prepare(place)
    before = [path.stat().st_ino for path in files(place)]
    assert len(before) == 60
    for _ in range(2):
        workload.reset(place)
        workload.run(place)
    assert [path.stat().st_ino for path in files(place)] == before
    key = workload.preparation()
    assert (
        key
        == make(operations=operations, shared=shared, bytes_to_write=9, sync="file").preparation()
    )
    assert key != make(operations=operations, shared=shared).preparation()


def test_trials_that_change_what_they_find_have_new_files_each(place):
    workload = make(operations=["stat", "rename"])
    assert workload.reads()
    assert not workload.preparation()
    workload.prepare(place)
    for _ in range(2):
        workload.reset(place)
        workload.run(place)
    assert {path.name[0] for path in files(place)} == {"r"}


def test_nnbench_itself_begins_with_nothing(place):
    workload = make()
    assert not workload.reads()
    for _ in range(2):
        workload.reset(place)
        assert not list(place.directory.iterdir())
        workload.run(place)


@given(
    threads=st.integers(1, 3),
    count=st.integers(1, 30),
    per_directory=st.integers(1, 40),
    shared=st.booleans(),
    sync=st.sampled_from(["none", "file", "directory", "phase"]),
)
def test_after_create_and_rename_the_tree_holds_exactly_the_expected_names(
    tmp_path_factory, threads, count, per_directory, shared, sync
):
    place = Place(tmp_path_factory.mktemp("names"), seed=1)
    workload = make(
        operations="create_write,rename",
        threads=threads,
        files=count,
        files_per_directory=per_directory,
        shared=shared,
        sync=sync,
        depth=2,
    )
    workload.run(place)
    trees = (
        {"shared": threads * count}
        if shared
        else {f"thread-{thread}": count for thread in range(threads)}
    )
    found = {tree: [] for tree in trees}
    for path in files(place):
        relative = path.relative_to(place.directory / "nnbench")
        assert len(relative.parts) == 4
        found[relative.parts[0]].append(path.name)
        assert len(list(path.parent.iterdir())) <= per_directory
    for tree, items in trees.items():
        assert sorted(found[tree]) == sorted(f"r{number}" for number in range(items))
    workload.clean(place)


def test_the_estimated_space_covers_the_used_space(place):
    workload = make(operations="create_write,mkdir", bytes_to_write="5kB", depth=3, shared=False)
    workload.run(place)
    taken = sum(path.stat().st_blocks * 512 for path in place.directory.rglob("*"))
    assert taken <= workload.space_bytes() <= 4 * taken


def test_changed_file_is_reported_with_its_byte(place):
    workload = make(operations="open_read", bytes_to_write=100)
    workload.prepare(place)
    path = files(place)[3]
    path.write_bytes(path.read_bytes()[:50] + b"!" + path.read_bytes()[51:])
    with pytest.raises(WorkloadError, match=rf"{path} differs .* at byte 50"):
        workload.run(place)


def test_vanished_directory_is_reported_and_cleaning_continues(place):
    workload = make(operations="stat", shared=False)
    workload.prepare(place)
    shutil.rmtree(place.directory / "nnbench/thread-1")
    with pytest.raises(WorkloadError, match=r"No such file .*thread-1") as caught:
        workload.run(place)
    assert "make sure that no other program removes" in caught.value.remedy
    workload.clean(place)
    assert not list(place.directory.iterdir())


def test_files_of_a_stopped_run_are_removed(place):
    workload = make(files="10M", files_per_directory="10M")
    stopping = Place(place.directory, seed=1, tick=lambda done: done == 0)
    with pytest.raises(WorkloadStoppedError):
        workload.run(stopping)
    assert files(place)
    workload.clean(place)
    assert not list(place.directory.iterdir())


def test_a_tree_too_deep_for_its_place_is_explained(place):
    deep = place.directory / "/".join(["n" * 250] * 14)
    with pytest.raises(WorkloadError, match="paths would have") as caught:
        make(depth=200).run(Place(deep, seed=1))
    assert "less depth" in caught.value.remedy


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"operations": []}, "at least one"),
        ({"operations": ["stat", "create_write"]}, "already exist"),
        ({"operations": "delete,stat"}, "no longer exist"),
        ({"operations": "stat,stat"}, "twice"),
        ({"operations": "chmod"}, "create_write"),
        ({"threads": 0}, "greater than or equal to 1"),
        ({"files": 0}, "greater than 0"),
        ({"files": 2**62, "threads": 4096}, "out of range; allowed: at most 1000G"),
        ({"depth": 0}, "greater than or equal to 1"),
        ({"sync": "always"}, "none"),
        ({"bytes_to_write": "-1"}, "not a size"),
    ],
)
def test_options_that_cannot_work_are_refused(options, reason):
    with pytest.raises(ValidationError, match=reason):
        make(**options)


def mounted(device, folder, *mkfs):
    subprocess.run(["mkfs.ext4", "-q", *mkfs, f"/dev/{device}"], check=True)
    subprocess.run(["mount", f"/dev/{device}", folder], check=True)


@pytest.mark.root
@pytest.mark.parametrize(
    ("mkfs", "options", "strerror", "remedy"),
    [
        (["-N", "64"], {"files": 200}, "No space left", r"df -i.*mkfs\.ext4 -N"),
        (
            ["-N", "4096"],
            {"files": 1000, "bytes_to_write": "128KiB"},
            "No space left",
            "make room",
        ),
        (
            ["-b", "1024", "-N", "70000", "-O", "^dir_nlink,^has_journal"],
            {"operations": "mkdir", "files": "65k", "files_per_directory": "130k", "threads": 1},
            "Too many links",
            "dir_nlink",
        ),
    ],
)
def test_exhausted_inodes_or_space_are_explained(tmp_path: Path, mkfs, options, strerror, remedy):
    size = 128 * MIB if "mkdir" in options.values() else 32 * MIB
    with loop_disk(size) as device:
        mounted(device, tmp_path, *mkfs)
        try:
            left = os.statvfs(tmp_path).f_ffree
            workload, place = make(**options), Place(tmp_path, seed=1)
            with pytest.raises(WorkloadError, match=strerror) as caught:
                workload.run(place)
            workload.clean(place)
            assert os.statvfs(tmp_path).f_ffree == left
        finally:
            subprocess.run(["umount", tmp_path], check=True)
    assert re.search(remedy, caught.value.remedy)
