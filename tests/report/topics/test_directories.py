"""Directories that a study compares, in its report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.report.topics.directories import build_directories, build_directories_section
from iostudy.storage_kind import find_storage_kind
from iostudy.study.combinations import FactorKind
from iostudy.study.targets.section import DirectoriesTarget
from tests.report.factory import build_report, factor, report, rows, study, study_row

PLACES = replace(
    factor("target.directory", "local", "filer"), kind=FactorKind.DIRECTORY, hard_to_change=True
)
STUDY = replace(
    study(PLACES), target=DirectoriesTarget({"local": Path("/data"), "filer": Path("/mnt")})
)
LOCAL = {
    "point": "/data",
    "filesystem": "xfs",
    "source": "/dev/sdb",
    "options": ["rw", "noatime", "rw"],
}
FILER = {
    "point": "/mnt",
    "filesystem": "nfs4",
    "source": "srv:/export",
    "options": ["rw", "vers=4.2"],
}
CIRCUMSTANCES = {"host": {"mounts": {"/data": LOCAL, "/mnt": FILER}}}


def test_each_has_its_mount_and_the_kind_of_its_storage() -> None:
    local, filer = build_directories(STUDY, CIRCUMSTANCES)
    assert (local.name, local.path, local.storage) == ("local", "/data", "device")
    assert local.options == ("rw", "noatime")
    assert (filer.filesystem, filer.source, filer.storage) == ("nfs4", "srv:/export", "network")


def test_the_section_warns_of_caches_of_servers() -> None:
    compared = build_report(STUDY, study_row(STUDY, CIRCUMSTANCES), rows(STUDY))
    section = build_directories_section(compared.directories)
    assert section is not None
    (table,) = section.tables
    assert table.rows[1] == ("filer", "network", "nfs4", "srv:/export", "/mnt", "rw vers=4.2")
    assert section.notes[1].startswith("For filer, only the caches of this host's kernel")
    assert build_directories_section(report().directories) is None


def test_the_method_names_directories() -> None:
    text = build_report(STUDY, study_row(STUDY, CIRCUMSTANCES), rows(STUDY)).method.text
    assert "configurations that share a directory run one after another" in text
    assert "All comparisons are across two directories: their error holds that of making" in text
    assert "file system" not in text


@pytest.mark.parametrize(
    ("filesystem", "source", "kind"),
    [
        ("ext4", "/dev/sda1", "device"),
        ("fuseblk", "/dev/sda1", "device"),
        ("tmpfs", "tmpfs", "memory"),
        ("nfs4", "srv:/export", "network"),
        ("cifs", "//srv/share", "network"),
        ("lustre", "10.0.0.1@tcp:/scratch", "network"),
        ("beegfs", "beegfs_nodev", "network"),
        ("fuse.glusterfs", "srv:/volume", "network"),
        ("fuse.s3fs", "s3fs", "FUSE process"),
        ("fuse.any", "/dev/sda1", "FUSE process"),
        ("overlay", "overlay", "other"),
        ("zfs", "tank/home", "other"),
    ],
)
def test_the_kind_of_storage_follows_from_the_mount(
    filesystem: str, source: str, kind: str
) -> None:
    assert find_storage_kind(filesystem, source) == kind
