"""Tests of targets with several directories, and of the factor that varies them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iostudy.cli.power import AGAIN, BASELINE, build_aa_study
from iostudy.study.mode import list_obstacles
from iostudy.study.plan import make_plan
from iostudy.study.privileges import list_root_requirements
from iostudy.study.targets.section import DirectoriesTarget, parse_target
from tests.study.files import GOOD, problems, read

PLACES = "{directories: {local: /data, nfs: /mnt/nfs}}"
STUDY = GOOD.replace("/data/scratch", PLACES).replace(
    "block.scheduler: [none, bfq]", "target.directory: [local, nfs]"
)


def test_each_level_is_a_whole_plot_in_its_directory() -> None:
    study = read(STUDY)
    assert study.target == DirectoriesTarget({"local": Path("/data"), "nfs": Path("/mnt/nfs")})
    assert study.describe_target() == "local (/data), nfs (/mnt/nfs)"
    found = [(each.label, each.directory, each.whole_plot) for each in study.configurations()]
    assert found == [
        ("local", "local", "target.directory=local"),
        ("nfs", "nfs", "target.directory=nfs"),
    ]
    assert list_root_requirements(study) == ()
    assert "target.directory: a run keeps its files" in list_obstacles(study)


def test_configurations_of_a_directory_run_one_after_another() -> None:
    study = read(STUDY.replace("factors:", "factors:\n  workload.direct: [false, true]"))
    for block in make_plan(study, 1).blocks:
        places = [label.rpartition("=")[2] for label in block.order]
        assert places in (["local", "local", "nfs", "nfs"], ["nfs", "nfs", "local", "local"])


def test_levels_have_labels_of_their_own() -> None:
    study = read(STUDY.replace("[local, nfs]", "{ext4 on SSD: local, filer: nfs, again: nfs}"))
    found = {each.label: each.directory for each in study.configurations()}
    assert found == {"ext4 on SSD": "local", "filer": "nfs", "again": "nfs"}


def test_the_noise_is_that_of_two_whole_plots_in_the_directory_of_the_baseline() -> None:
    noise = read(build_aa_study(read(STUDY), "/results/out", 10))
    baseline, again = noise.configurations()
    assert noise.target == read(STUDY).target
    assert (baseline.label, again.label) == (BASELINE, AGAIN)
    assert baseline.directory == again.directory == "local"
    assert baseline.whole_plot != again.whole_plot


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({}, "at least 1"),
        ({"a": "/a", "b": "/a"}, "directory /a has two names"),
        ({"a b": "/a", "b": "/b"}, "no name of a disk or directory"),
        ({"a": "/a", "b": "/" + "x" * 300}, "the path is too long"),
    ],
)
def test_what_is_no_choice_of_directories(section: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_target({"directories": section})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[local, nfs]", "[local, nsf]", "unknown directory of the target"),
        ("[local, nfs]", "offered", "no levels that a host offers"),
        ("[local, nfs]", "{levels: [local, nfs], on: /data}", "leave on out"),
        (PLACES, "/data", "name what it compares: target: {directories:"),
        ("target.directory: [local, nfs]", "workload.direct: [false, true]", "vary them: target."),
        ("target.directory", "filesystem.type", "unknown level"),
        ("decide:", "telemetry: {block_latency: true}\ndecide:", "may lack a device"),
        (
            "target.directory: [local, nfs]",
            "target.directory: [local, nfs]\n  filesystem.type: [ext4, xfs]",
            "only made on a disk of the study's own",
        ),
    ],
)
def test_what_does_not_go_together(old: str, new: str, message: str) -> None:
    found = problems(STUDY.replace(old, new))
    assert any(message in problem.message for problem in found), found


@pytest.mark.all_plugins
def test_a_search_stays_in_one_directory() -> None:
    search = "search: {parameters: {target.directory: [local, nfs]}, budget: 2h}\n"
    text = STUDY.replace("factors:\n  target.directory: [local, nfs]\n", search)
    assert any("stays on one file system" in each.message for each in problems(text))
