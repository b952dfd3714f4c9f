"""Tests of checks across sections of a study file, also after the host has offered its levels."""

from __future__ import annotations

import pytest

from iostudy.errors import StudyError
from iostudy.study.cross_check import resolve_offered_levels
from tests.study.files import GOOD, only_problem, problems, read

OFFERED = GOOD.replace("[none, bfq]", "offered")
HERE = {"block.scheduler": ("none", "bfq")}


def test_offered_levels_make_the_configurations():
    study = resolve_offered_levels(read(OFFERED + "baseline: bfq\n"), HERE)
    assert [c.label for c in study.configurations()] == ["bfq", "none"]


def test_a_study_that_waits_for_no_levels_is_left_as_it_is():
    study = read(GOOD)
    assert resolve_offered_levels(study, {}) is study


def test_a_baseline_that_the_host_does_not_offer_is_refused_at_its_line():
    with pytest.raises(StudyError) as caught:
        resolve_offered_levels(read(OFFERED + "baseline: bogus\n"), HERE)
    (problem,) = caught.value.problems
    assert (problem.line, problem.found, problem.allowed) == (9, "bogus", "none, bfq")


def test_a_host_that_offers_nothing_is_an_error_at_the_factor():
    with pytest.raises(StudyError, match=r"line 4: factors\.block\.scheduler: the host offers no"):
        resolve_offered_levels(read(OFFERED), {"block.scheduler": ()})


def test_options_are_checked_before_the_host_is_queried():
    text = OFFERED.replace("offered", "offered\n  workload.record_size: [1MiB, 512MiB]")
    first, second = problems(text)
    assert "file-writes cannot run with record_size=512MiB: record_size is larger" in first.message
    assert "file-reads" in second.message


def test_a_bad_option_is_reported_once_and_not_for_every_setting():
    text = GOOD.replace("bfq]", "bfq]\n  workload.record_size: [1MiB, 128MiB]")
    assert len(problems(text)) == 1


@pytest.mark.parametrize("levels", ["[none, bfq]", "offered"])
def test_more_configurations_than_anybody_can_run_are_refused(levels):
    sizes = [4096 * n for n in range(1, 1002)]
    text = GOOD.replace("[none, bfq]", f"{levels}\n  workload.record_size: {sizes}")
    (problem,) = problems(text)
    assert problem.line == 3
    assert "too many configurations" in problem.message
    assert problem.allowed == "up to 1000"


def test_an_explosion_of_configurations_is_refused_before_it_happens():
    hundred = {n: n for n in range(64, 464, 4)}
    names = ("block.read_ahead_kb", "block.nr_requests", "workload.files", "workload.size")
    factors = "\n  ".join(f"{name}: {hundred}" for name in names)
    text = GOOD.replace("block.scheduler: [none, bfq]", factors)
    assert "found 100000000" in str(problems(text)[0])


@pytest.mark.parametrize(
    ("target", "factor", "wanted"),
    [
        (
            "/data/scratch",
            "mount.data: [ordered, journal]",
            "compare filesystem.options: [as-found",
        ),
        ("{loopback: {size: 1GiB}}", "mount.data: [ordered, journal]", "filesystem.options"),
        (
            "{loopback: {size: 1GiB, filesystem: xfs}}",
            "mount.barrier: ['on', 'off']",
            "only ext3, ext4, btrfs have it",
        ),
        (
            "{loopback: {size: 1GiB}}",
            "mount.commit: [5, 60]\n  filesystem.type: [ext4, xfs]",
            "only ext3, ext4, btrfs have it",
        ),
    ],
)
def test_a_mount_option_that_the_file_system_lacks_is_refused(target, factor, wanted):
    text = GOOD.replace("/data/scratch", target).replace("block.scheduler: [none, bfq]", factor)
    (problem,) = problems(text)
    assert wanted in problem.message


@pytest.mark.parametrize("factor", ["filesystem.type: [ext4, xfs]", "filesystem.reserved: [0, 5]"])
def test_a_file_system_is_not_made_in_a_directory(factor):
    (problem,) = problems(GOOD.replace("block.scheduler: [none, bfq]", factor))
    assert problem.line == 4
    assert "{loopback: {size: 2GiB}}" in problem.message
    assert problem.found == "/data/scratch"


@pytest.mark.parametrize(
    ("filesystem", "factor", "fits"),
    [
        ("xfs", "filesystem.journal: [on, off]", False),
        ("ext4", "filesystem.journal: [on, off]", True),
        ("ext2", "filesystem.reserved: [0, 5]", True),
        ("xfs", "filesystem.type: [ext4, xfs]\n  filesystem.journal: [on, off]", True),
        ("ext4", "filesystem.type: [btrfs, xfs]\n  filesystem.journal: [on, off]", False),
    ],
)
def test_a_file_system_has_what_its_type_has(filesystem, factor, fits):
    target = f"target: {{loopback: {{size: 2GiB, filesystem: {filesystem}}}}}"
    text = GOOD.replace("target: /data/scratch", target).replace(
        "block.scheduler: [none, bfq]", factor
    )
    found = [p.message for p in problems(text)] if not fits else [read(text).name]
    assert fits or "it is only there while filesystem.type is ext4" in found[0]


LOGS = """\
question: Where should the log be?
target: {loopback: {size: 64MiB, beside: {disk2: ext4}}}
factors:
  workload.directories: [target, disk2]
workloads:
  - io
"""


def test_a_disk_that_a_workload_uses_is_one_that_the_study_makes():
    assert len(read(LOGS).configurations()) == 2
    (problem,) = problems(LOGS.replace("[target, disk2]", "[target, disk3]"))
    assert problem.line == 3
    assert "cannot run with directories=disk3: there is no further disk disk3" in problem.message
    assert "beside: {disk3: ext4}" in problem.message
    (problem,) = problems(LOGS.replace("{loopback: {size: 64MiB, beside: {disk2: ext4}}}", "/data"))
    assert "there is no further disk disk2" in problem.message


def test_file_systems_do_not_vary_where_there_are_further_disks():
    (problem,) = problems(LOGS.replace("factors:", "factors:\n  filesystem.journal: [on, off]"))
    assert "cannot vary where the target has further disks" in problem.message
    assert problem.found == "disk2"


def test_options_of_another_file_system_type_make_no_configurations():
    factors = "filesystem.type: [ext4, xfs]\n  filesystem.journal: [on, off]"
    text = GOOD.replace("target: /data/scratch", "target: {loopback: {size: 2GiB}}")
    study = read(text.replace("block.scheduler: [none, bfq]", factors))
    assert [c.label for c in study.configurations()] == [
        "type=ext4, journal=on",
        "type=ext4, journal=off",
        "type=xfs",
    ]
    assert len({c.whole_plot for c in study.configurations()}) == 3


TWO_FORMS = "sysctl.vm.dirty_ratio: [as-found, 10]\n  sysctl.vm.dirty_bytes: [as-found, 67108864]"


def test_two_forms_of_one_number_are_not_both_set():
    problem = only_problem("block.scheduler: [none, bfq]", TWO_FORMS)
    assert problem.path == "factors.sysctl.vm.dirty_bytes"
    assert "vm.dirty_ratio are one number in two forms" in problem.message
    assert "configurations:" in problem.message


def test_two_forms_of_one_number_vary_in_configurations_where_they_do_not_meet():
    chosen = "{one: {}, ratio: {sysctl.vm.dirty_ratio: 10}, bytes: {sysctl.vm.dirty_bytes: BYTES}}"
    text = GOOD.replace("block.scheduler: [none, bfq]", TWO_FORMS)
    study = read(f"{text}configurations: {chosen}\n".replace("BYTES", "67108864"))
    assert len(study.configurations()) == 3
