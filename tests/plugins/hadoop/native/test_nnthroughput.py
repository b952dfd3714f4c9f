"""A namespace with its edit log: what is measured, where the log lies, and what is left."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace

import pytest
from pydantic import ValidationError

from iostudy.errors import TargetError, WorkloadError, WorkloadStoppedError
from iostudy.workloads.option_text import format_options
from iostudy.workloads.workload import Place
from iostudy_hadoop.native import edit_logs, nnthroughput
from tests.fixtures_loop import loop_disk

MIB = 1 << 20
EVERYTHING = ("create", "open", "file-status", "mkdirs", "rename", "delete")


def make(**options):
    small = {"files": 2000, "threads": 16}
    return nnthroughput.NNThroughput(
        nnthroughput.NNThroughputOptions.model_validate(small | options)
    )


def carried_out(workload, place):
    workload.check()
    workload.reset(place)
    measured = workload.run(place)
    measured.verify()
    return measured


def test_incomplete_log_is_found_after_the_run(place):
    workload = make(operations="create", logs="a, b")
    workload.reset(place)
    measured = workload.run(place)
    (segment,) = (place.directory / "nnthroughput" / "b").iterdir()
    with segment.open("r+b") as file:
        file.seek(200)
        file.write(b"\xff\xff")
    with pytest.raises(WorkloadError, match="transaction"):
        measured.verify()


PEAKS = """\
import sys
from pathlib import Path
from iostudy_hadoop.native import edit_logs, nnthroughput
from iostudy.workloads.workload import Place

def peak_kib():
    (line,) = [own for own in open("/proc/self/status") if own.startswith("VmHWM")]
    return int(line.split()[1])

asked = nnthroughput.NNThroughputOptions(operations=["create"], files=1_000_000)
before = peak_kib()
measured = nnthroughput.NNThroughput(asked).run(Place(Path(sys.argv[1]), seed=7))
served = peak_kib()
measured.verify()
print(served - before, peak_kib() - before)
"""


@pytest.mark.child
def test_a_log_is_replayed_without_two_trees_in_memory_or_all_of_it(place):
    command = [sys.executable, "-c", PEAKS, str(place.directory)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    served, verified = map(int, done.stdout.split())
    assert served < verified < 2 * served


@pytest.mark.parametrize("logs", ["none", "log", "a, b"])
def test_every_phase_has_its_figures_and_all_logs_are_removed(place, logs):
    workload = make(operations=EVERYTHING, logs=logs)
    measured = carried_out(workload, place)
    assert set(measured.figures) == names_of_figures(workload)
    assert all(math.isfinite(value) for value in measured.figures.values())
    counts = {name: sum(c for _, c in buckets) for name, buckets in measured.latencies.items()}
    assert counts == dict.fromkeys(EVERYTHING, 2000)
    assert measured.notes == ()
    workload.clean(place)
    assert not list(place.directory.iterdir())


def test_no_more_mutations_share_a_sync_than_are_under_way_or_allowed(place):
    few = carried_out(make(threads=4, workers=2, operations="create"), place).figures
    assert 1 <= few["create_per_sync"] <= 4
    one = carried_out(make(batch_records=1, operations="create", files=200), place).figures
    assert one["create_per_sync"] == 1
    assert one["create_buffer_share"] > 0


def test_mutation_has_its_natural_or_the_requested_size(place):
    needed = carried_out(make(operations="create"), place).figures["create_bytes"]
    assert 30 < needed < 60
    padded = carried_out(make(operations="create", record_bytes=300), place).figures
    head = 28 / padded["create_per_sync"]
    assert padded["create_bytes"] == pytest.approx(300 + head)


def test_a_phase_counts_its_own_mutations_alone(place):
    # As many directories are made before: their records are durable before the phase begins.
    measured = carried_out(make(files_per_directory=1, files=20_000, operations="create"), place)
    figures = measured.figures
    files = figures["create_per_sync"] * figures["create_syncs"] * figures["exec_time"]
    assert files == pytest.approx(20_000, abs=0.5)


@pytest.mark.parametrize(
    "options",
    [
        {"sync": "dsync"},
        {"sync": "none"},
        {"preallocate": 0},
        {"preallocate": "16MiB"},
        {"order": "parallel", "logs": "a, b, c"},
        {"batch_wait": "200us", "batch_records": 100},
        {"checkpoint_every": 700},
        {"threads": 8, "workers": 8},
    ],
)
def test_every_kind_of_log_records_all_operations(place, options):
    # The run itself compares the contents of every log with the tree that was served.
    workload = make(**options)
    measured = carried_out(workload, place)
    assert set(measured.figures) == names_of_figures(workload)
    assert measured.figures["create_bytes"] > 0


def names_of_figures(workload):
    return {figure.name for figure in nnthroughput._figures(workload.options)}


def test_without_syncs_none_are_counted(place):
    measured = carried_out(make(sync="none", operations="create"), place)
    assert not {"create_per_sync", "create_syncs"} & set(measured.figures)


def test_logs_elsewhere_lie_in_folders_of_our_own_that_are_removed(place, tmp_path):
    elsewhere = tmp_path / "disk2"
    elsewhere.mkdir()
    (elsewhere / "of somebody else").touch()
    workload = make(logs=["log", str(elsewhere)], operations="create")
    carried_out(workload, place)
    assert len(list(elsewhere.iterdir())) == 2
    workload.clean(place)
    assert [path.name for path in elsewhere.iterdir()] == ["of somebody else"]


def test_a_folder_that_somebody_else_made_for_a_log_is_not_used(place, tmp_path):
    elsewhere, foreign = tmp_path / "elsewhere", tmp_path / "foreign"
    elsewhere.mkdir()
    (foreign / "kept").mkdir(parents=True)
    workload = make(operations="create", logs=f"log, {elsewhere}")
    own = workload.logs.folders(place)[1]
    own.symlink_to(foreign)
    carried_out(workload, place)
    assert own.is_dir()
    assert not own.is_symlink()
    assert [path.name for path in foreign.iterdir()] == ["kept"]


def test_another_program_s_folder_of_a_log_ends_the_trial(place, tmp_path, monkeypatch):
    monkeypatch.setattr(edit_logs, "remove", lambda folder: folder.mkdir(parents=True))
    workload = make(operations="create", logs=f"log, {tmp_path}")
    with pytest.raises(WorkloadError, match="to make a folder"):
        workload.reset(place)


def test_logs_on_further_disks_are_created_there_and_removed(place, tmp_path):
    disk2 = tmp_path / "disk2"
    disk2.mkdir()
    others = replace(place, disks={"disk2": disk2})
    workload = make(logs="log, disk2:log, disk2:another", operations="create")
    assert workload.disks() == {"disk2"}
    carried_out(workload, others)
    (own,) = disk2.iterdir()
    assert {folder.name for folder in own.iterdir()} == {"log", "another"}
    assert len(list(place.directory.rglob("log"))) == 1
    workload.clean(others)
    assert not list(disk2.iterdir())
    assert not list(place.directory.iterdir())


def test_missing_further_disk_has_a_remedy(place):
    with pytest.raises(TargetError, match=r"beside: \{disk2: ext4\}"):
        carried_out(make(logs="disk2:log"), place)


def test_room_is_wanted_for_the_logs_that_share_a_disk():
    one = make(logs="log").space_bytes()
    assert make(logs="log, disk2:log, disk3:log").space_bytes() == one
    assert make(logs="disk2:a, disk2:b, log").space_bytes() == 2 * one
    assert make(logs="none").space_bytes() == make(logs="/disk2").space_bytes() == 0


def test_opens_are_compared_to_creates_where_both_are_measured(place):
    figures = carried_out(make(), place).figures
    assert figures["opens_per_create"] == figures["open_rate"] / figures["create_rate"]
    assert "opens_per_create" not in carried_out(make(operations="create"), place).figures


def test_trials_with_other_logs_are_cleaned_apart():
    assert make(logs="log").preparation() != make(logs="/disk2").preparation()
    assert make(logs="log").preparation() == make(logs="log", threads=1).preparation()


def test_missing_directory_fails_before_any_work(place, tmp_path):
    with pytest.raises(TargetError, match="does not exist"):
        make(logs=str(tmp_path / "no")).check()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"logs": "a, a"}, "occurs twice"),
        ({"logs": "none, a"}, "write it alone"),
        ({"logs": "a/b"}, "neither the name"),
        ({"logs": ":a"}, "neither the name"),
        ({"logs": "disk2:"}, "neither the name"),
        ({"logs": "disk2:a/b"}, "neither the name"),
        ({"logs": ".."}, "neither the name"),
        ({"logs": []}, "at least 1"),
        ({"operations": "rename, rename"}, "change the order"),
        ({"operations": "delete, open"}, "change the order"),
        ({"operations": "open, create"}, "change the order"),
        ({"threads": 2, "workers": 3}, "at most as many"),
        ({"record_bytes": 20_000}, "16384"),
    ],
)
def test_impossible_options_are_refused_with_the_reason(options, why):
    with pytest.raises(ValidationError, match=why):
        make(**options)


def test_logs_can_be_a_level_of_a_factor():
    options = make(logs=["log", "/disk2/journal"]).options
    assert format_options(options)["logs"] == "log, /disk2/journal"
    assert make(logs="log, /disk2/journal").options == options


def test_a_tick_that_says_no_stops_it(place):
    workload = make(files=1_000_000, operations="create")
    stopped = Place(place.directory, place.seed, lambda _: False)
    with pytest.raises(WorkloadStoppedError):
        workload.run(stopped)
    workload.clean(place)
    assert not list(place.directory.iterdir())


def test_a_log_of_somebody_else_is_not_written_to(place):
    workload = make(operations="create")
    workload.run(place)
    with pytest.raises(WorkloadError, match="begin a log"):
        workload.run(place)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 24 MiB, on a disk of its own."""
    folder = tmp_path / "small"
    folder.mkdir()
    with loop_disk(24 * MIB) as device:
        subprocess.run(["mkfs.ext4", "-q", f"/dev/{device}"], check=True)
        subprocess.run(["mount", f"/dev/{device}", folder], check=True)
        try:
            yield folder
        finally:
            subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize(
    ("options", "batches"),
    [
        ({"logs": "a, b, c", "threads": 64}, 1),
        ({"logs": "a, b, c", "order": "parallel"}, 3),
        ({"logs": "none"}, None),
    ],
)
def test_a_batch_is_under_way_at_a_time_or_one_for_each_log(options, batches):
    definition = nnthroughput.NNTHROUGHPUT
    assert definition.concurrency(definition.options.model_validate(options)) == batches


@pytest.mark.root
def test_full_disk_is_named_and_the_run_continues_on_the_other_log(place, small_disk):
    workload = make(
        files=20_000, record_bytes=2000, operations="create", logs=["log", str(small_disk)]
    )
    measured = carried_out(workload, place)
    (departure,) = measured.departures
    assert str(small_disk) in departure
    assert "No space left" in departure
    assert "from transaction" in departure
    workload.clean(place)
    assert [path.name for path in small_disk.iterdir()] == ["lost+found"]


@pytest.mark.root
def test_without_a_log_that_is_left_the_run_fails_and_says_why(place, small_disk):
    workload = make(files=20_000, record_bytes=2000, operations="create", logs=str(small_disk))
    with pytest.raises(WorkloadError, match="no log directory remains"):
        carried_out(workload, place)
    workload.clean(place)
    assert [path.name for path in small_disk.iterdir()] == ["lost+found"]


def test_one_worker_per_cpu_runs_the_operations():
    assert nnthroughput._workers(make(threads=1).options) == 1
    assert nnthroughput._workers(make(threads=4096).options) == len(os.sched_getaffinity(0))
    assert nnthroughput._workers(make(workers=3).options) == 3
