"""Tests of file systems that a study mounts, as a study file has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.settings.mount_options import MOUNT_POINTS
from iostudy.study.privileges import list_root_requirements
from iostudy.study.targets.section import DirectoriesTarget
from iostudy.study.targets.target import MountRequest
from tests.study.files import GOOD, problems, read

STUDY = GOOD.replace("/data/scratch", "{directories: {local: /data, other: OTHER}}").replace(
    "block.scheduler: [none, bfq]", "target.directory: [local, other]"
)


UNPROTECTED = (
    "suid",
    "dev",
    "ro,defaults",
    "user",
    "users=x",
    "X-mount.owner=7",
    'context="a,suid"',
)
"""Options that undo nosuid and nodev."""


def study(other: str) -> str:
    return STUDY.replace("OTHER", other)


def test_a_mount_is_one_of_the_directories() -> None:
    found = read(
        study("{mount: 'filer:/export', at: /mnt/nfs, type: nfs4, options: 'vers=4.2,hard'}")
    )
    request = MountRequest("filer:/export", Path("/mnt/nfs"), "nfs4", "vers=4.2,hard")
    assert found.target == DirectoriesTarget(
        {"local": Path("/data"), "other": Path("/mnt/nfs")}, {"other": request}
    )
    assert found.describe_target() == "local (/data), other (filer:/export, nfs4, vers=4.2,hard)"
    assert list_root_requirements(found) == ("mount filer:/export",)


def test_a_mount_without_a_point_has_one_of_its_name() -> None:
    assert read(study("{mount: 'filer:/x'}")).target.mount_requests == {
        "other": MountRequest("filer:/x", MOUNT_POINTS / "other")
    }


def test_one_directory_needs_no_factor() -> None:
    text = GOOD.replace("/data/scratch", "{directories: {other: {mount: 'filer:/x'}}}")
    assert list(read(text).target.compared) == ["other"]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("{at: /mnt/nfs}", "mount"),
        ("{mount: 'filer:/x', at: mnt}", "no absolute path"),
        ("{mount: 'filer: /x', at: /mnt/x}", "without blanks"),
        ("{mount: '-v', at: /mnt/x}", "begins with -"),
        ("{mount: 'filer:/x', at: /mnt/x, type: 'nfs 4'}", "no type of a file system"),
        ("{mount: 'filer:/x', at: /mnt/x, option: hard}", "option"),
        ("{mount: 'filer:/x', at: /mnt/x, options: 'hard,bg'}", "option bg does not make"),
        ("{mount: 'filer:/x', at: /mnt/x, options: rbind}", "option rbind does not make"),
        *(
            (f"{{mount: 'filer:/x', at: /mnt/x, options: '{given}'}}", "always nosuid,nodev")
            for given in UNPROTECTED
        ),
        pytest.param(
            "{mount: 'hdfs://nn:8020/b', at: /mnt/x, type: fuse}",
            "has no type",
            marks=pytest.mark.all_plugins,
        ),
        pytest.param(
            "{mount: 'hdfs://nn:8020/b', at: /mnt/x, options: buffer=1}",
            "is no option",
            marks=pytest.mark.all_plugins,
        ),
        pytest.param(
            "{mount: 'hdfs://nn:8020/b', at: /mnt/x, options: rdbuffer=many}",
            "rdbuffer=many",
            marks=pytest.mark.all_plugins,
        ),
        pytest.param(
            "{mount: 'hdfs://nn:8020/b', at: /mnt/x, options: 'rdbuffer=1,rdbuffer=2'}",
            "twice",
            marks=pytest.mark.all_plugins,
        ),
        pytest.param(
            "{mount: 'hdfs://nn:8020/b', at: /mnt/x, options: block_size=1000}",
            "multiple of 512",
            marks=pytest.mark.all_plugins,
        ),
        pytest.param(
            "{mount: 'hdfs://nn:8020/../b', at: /mnt/x}",
            "neither . nor ..",
            marks=pytest.mark.all_plugins,
        ),
        ("[/mnt/x]", "write a directory"),
        ("{mount: 'filer:/x', at: /data}", "has two names"),
    ],
)
def test_problems(other: str, message: str) -> None:
    assert any(message in each for each in map(str, problems(study(other))))
