"""Tests of the suggestion of an NFS mount for studies of edit logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.cli import check
from iostudy.cli.plan_lines import suggest_nfs
from iostudy.host.mounts import parse_mountinfo
from iostudy.study import library
from iostudy.study.parser import load, parse

MOUNTS = b"""\
36 25 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
61 36 0:51 / /mnt/journal rw,relatime shared:9 - nfs4 filer:/journal rw,vers=4.2
62 36 0:52 / /mnt/read rw,relatime - nfs filer:/read ro,vers=3
63 36 0:53 / /mnt/only ro,relatime - nfs filer:/only rw,vers=3
64 36 0:54 / /mnt/a,b rw,relatime - nfs filer:/ab rw,vers=3
"""
LEFT_OUT = (
    "left out of R2: 1 NFS disk, 1 NFS filer, 3 local disks and 1 NFS, as no NFS is mounted here "
    "for writing"
)


def suggestions(name: str, mounts: bytes = MOUNTS) -> list[str]:
    return list(suggest_nfs(load(library.find_study(name)), parse_mountinfo(mounts)))


def test_suggestion_is_the_line_to_add():
    (line,) = suggestions("edit-log")
    assert line == (
        "NFS at /mnt/journal is not used; for a log there add to workload.logs: "
        '`1 NFS disk: "/mnt/journal"`'
    )


def test_suggested_line_adds_the_factor_and_leaves_the_other_suggestions():
    text = load(library.find_study("edit-log")).text
    added = text.replace("    4 local disks:", '    1 NFS disk: "/mnt/journal"\n    4 local disks:')
    study = parse(added, where="edit-log.yaml", name="edit-log")
    assert "1 NFS disk" in {own.label for own in study.configurations()}
    assert list(suggest_nfs(study, parse_mountinfo(MOUNTS))) == []
    (line,) = suggest_nfs(study, parse_mountinfo(MOUNTS.replace(b"/mnt/a,b", b"/mnt/b")))
    assert line.startswith("NFS at /mnt/b is not used;")
    assert '`1 NFS filer: "/mnt/b"`' in line


def test_a_study_that_names_its_configurations_needs_two_lines():
    (line,) = suggestions("edit-log-native")
    assert line.endswith(
        'add to workload.logs: `nfs: "/mnt/journal"`, and to configurations: '
        "`1 NFS disk: {workload.logs: nfs}`"
    )


def test_unwritable_device_is_named_as_omitted():
    without = b"".join(line for line in MOUNTS.splitlines(True) if b"/mnt/journal" not in line)
    assert suggestions("edit-log", without) == [LEFT_OUT]


@pytest.mark.parametrize("name", ["quickstart", "schedulers", "noatime-and-limits"])
def test_other_studies_have_no_suggestion(name):
    assert suggestions(name) == []


@pytest.mark.child
def test_check_prints_the_suggestion(program, monkeypatch):
    monkeypatch.setattr(check, "read_mounts", lambda: parse_mountinfo(MOUNTS))
    done = program("check", "edit-log", "--full")
    assert done.returncode == 0, done.stderr
    assert '`1 NFS disk: "/mnt/journal"`' in " ".join(done.stdout.split())
    assert not Path("/mnt/journal").exists()
