"""I/O of others: what counts as theirs, and who of them has a name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iostudy.host.mounts import parse_mountinfo
from iostudy.telemetry.block_events import find_foreign_submitters
from iostudy.telemetry.processes import FOREIGN_KB, compute_foreign_kb
from iostudy.telemetry.summary import Submitter, TelemetrySummary

OWN_KB = 1000.0
FIO = Submitter("loop1", "fio", 7, 300.0)


def moved(loop: float, below: float = 0.0) -> TelemetrySummary:
    devices = {"loop1": loop, "vda": below}
    figures = {name: {"kB_read": 0.0, "kB_wrtn": kb} for name, kb in devices.items()}
    return TelemetrySummary(1.0, figures, {})


def made(summary: TelemetrySummary) -> TelemetrySummary:
    return replace(summary, private_devices=("loop1",))


def test_on_a_disk_of_the_users_the_excess_is_that_of_others() -> None:
    assert compute_foreign_kb(moved(3600), ["loop1"], OWN_KB) == 2600
    assert compute_foreign_kb(moved(900), ["loop1"], OWN_KB) == 0


def test_others_have_at_most_what_they_moved_anywhere() -> None:
    summary = replace(moved(3600), machine={FOREIGN_KB: 50.0})
    assert compute_foreign_kb(summary, ["loop1"], OWN_KB) == 50
    assert compute_foreign_kb(replace(summary, submitters=(FIO,)), ["loop1"], OWN_KB) == 300


def test_on_a_disk_of_the_study_only_counted_io_is_that_of_others() -> None:
    assert compute_foreign_kb(made(moved(3600)), ["loop1"], OWN_KB) == 0
    second = replace(made(moved(3600)), submitters=(FIO, replace(FIO, device="vda")))
    assert compute_foreign_kb(second, ["loop1"], OWN_KB) == 300


def test_what_arrives_below_a_disk_of_the_study_is_the_workloads() -> None:
    assert compute_foreign_kb(made(moved(3600, 3700)), ["vda"], OWN_KB) == 100


PROCESSES = {
    2: ("kthreadd", 2, 0),
    30: ("jbd2/loop1-8", 30, 2),
    100: ("python", 100, 1),
    101: ("python", 100, 1),  # a thread of it
    110: ("sh", 110, 100),
    111: ("dd", 111, 110),
    200: ("fio", 200, 1),
    201: ("fio", 200, 1),
    1: ("init", 1, 0),
}


@pytest.fixture
def proc(tmp_path):
    for thread, (name, pid, parent) in PROCESSES.items():
        (tmp_path / str(thread)).mkdir()
        text = f"Name:\t{name}\nUmask:\t0022\nTgid:\t{pid}\nPid:\t{thread}\nPPid:\t{parent}\n"
        (tmp_path / str(thread) / "status").write_text(text)
    return tmp_path


def test_only_running_processes_outside_the_workload_are_submitters(proc) -> None:
    threads = (30, 101, 111, 200, 201, 999)
    submitted = [("loop1", thread, 1024) for thread in threads]
    (found,) = find_foreign_submitters(submitted, {100}, proc=proc)
    assert found == Submitter("loop1", "fio", 200, 2.0)
    assert found.title == "fio, process 200"


def test_a_name_of_any_bytes_is_displayed(proc) -> None:
    """prctl(2), PR_SET_NAME, takes them."""
    status = proc / "200/status"
    status.write_bytes(status.read_bytes().replace(b"fio", b"\xff\x1b[1m"))
    (found,) = find_foreign_submitters([("loop1", 200, 1024)], {100}, proc=proc)
    assert found.title.isprintable()


def open_file(proc, pid, number, mount, path):
    for folder in ("fd", "fdinfo"):
        (proc / str(pid) / folder).mkdir(exist_ok=True)
    (proc / str(pid) / "fd" / str(number)).symlink_to(path)
    (proc / str(pid) / "fdinfo" / str(number)).write_text(f"pos:\t0\nmnt_id:\t{mount}\n")


@pytest.mark.parametrize(
    ("mount", "path", "named"),
    [(77, "/mnt/a", True), (5, "/dev/loop1", True), (5, "/dev/loop11", False), (5, "/a", False)],
)
def test_on_a_disk_of_the_study_others_need_an_open_file(proc, mount, path, named) -> None:
    """Who calls sync(2) submits what the workload has written, and has none."""
    open_file(proc, 200, 3, 5, "/etc/passwd")
    open_file(proc, 200, 4, mount, path)
    line = b"77 5 7:1 / /mnt rw - ext4 /dev/loop1 rw\n5 1 0:5 / / rw - ext4 /dev/vda rw\n"
    submitted = [("loop1", 200, 1024), ("vda", 200, 2048)]
    found = find_foreign_submitters(
        submitted, {100}, ["loop1"], proc=proc, mounts=lambda: parse_mountinfo(line)
    )
    assert {each.device for each in found} == {"vda", *(["loop1"] if named else [])}


def test_a_process_has_a_line_for_each_device(proc) -> None:
    submitted = [("loop1", 200, 1024), ("vda", 200, 2048)]
    found = find_foreign_submitters(submitted, {100}, proc=proc)
    assert {each.device: each.kB for each in found} == {"loop1": 1.0, "vda": 2.0}
