"""Tests of a folder's location in its file system."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import OutOfReachError
from iostudy.host import mounts
from iostudy.settings import kinds
from iostudy.settings.filesystem_location import FilesystemLocation
from iostudy.settings.work_folder import WorkFolder

UUID = "0f1e2d3c-4b5a-4697-8879-6a5b4c3d2e1f"


@pytest.fixture
def place(tmp_path: Path) -> FilesystemLocation:
    """As on a kernel that gives no UUID."""
    return replace(FilesystemLocation.from_folder(tmp_path / "folder"), uuid="", filesystem="ntfs3")


@pytest.fixture
def now(place: FilesystemLocation, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What is different where the path leads now."""
    changes: dict[str, object] = {}
    found = classmethod(lambda _, folder: replace(place, **changes))  # type: ignore[arg-type]
    monkeypatch.setattr(FilesystemLocation, "from_folder", found)
    return changes


def is_reachable(place: FilesystemLocation, folder: Path) -> bool:
    try:
        place.require(folder, "to remove it")
    except OutOfReachError:
        return False
    return True


def test_a_missing_folder_in_its_file_system_is_reachable(tmp_path: Path) -> None:
    folder = tmp_path / "a/b/folder"
    FilesystemLocation.from_folder(folder).require(folder, "to remove it")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"device": "0:99"}, False),
        ({"fsid": 99}, False),
        ({"inside": "/elsewhere"}, False),
        ({"filesystem": "xfs"}, False),
        ({"uuid": UUID}, False),
        ({"boot": "another", "device": "0:99", "fsid": 99}, True),
        ({"boot": "another", "source": "another:/export"}, False),
    ],
)
def test_without_a_uuid(
    place: FilesystemLocation,
    now: dict[str, object],
    tmp_path: Path,
    changes: dict[str, object],
    expected: bool,  # noqa: FBT001 - a row of a table
) -> None:
    now |= changes
    assert is_reachable(place, tmp_path) is expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"device": "0:99", "fsid": 99}, True),
        ({"source": "another:/export"}, False),
        ({"inside": "/elsewhere"}, False),
    ],
)
def test_a_server_has_another_device_each_time_it_is_mounted(
    place: FilesystemLocation,
    now: dict[str, object],
    tmp_path: Path,
    changes: dict[str, object],
    expected: bool,  # noqa: FBT001 - a row of a table
) -> None:
    now |= {"filesystem": "nfs4", **changes}
    assert is_reachable(replace(place, filesystem="nfs4"), tmp_path) is expected


@pytest.mark.parametrize(
    ("there", "expected"), [("", True), ("server:/export", True), ("other:/export", False)]
)
def test_a_server_needs_no_mount_for_commands_that_make_it(
    place: FilesystemLocation,
    now: dict[str, object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    there: str,
    expected: bool,  # noqa: FBT001 - a row of a table
) -> None:
    nfs = replace(place, filesystem="nfs4", source="server:/export")
    line = f"9 1 0:9 / {tmp_path} rw - nfs4 {there} rw".encode() if there else b""
    monkeypatch.setattr(mounts, "read_mounts", lambda: mounts.parse_mountinfo(line))
    now |= {"source": there}
    with nullcontext() if expected else pytest.raises(OutOfReachError):
        nfs.require_mounted(tmp_path, "to restore it")


def test_with_a_uuid_the_device_may_have_another_name(
    place: FilesystemLocation, now: dict[str, object], tmp_path: Path
) -> None:
    ours = replace(place, uuid=UUID, boot="another")
    now |= {"uuid": UUID, "device": "8:99", "source": "/dev/sdz", "fsid": 99}
    assert is_reachable(ours, tmp_path)
    now["uuid"] = UUID.replace("0f", "f0")
    assert not is_reachable(ours, tmp_path)


def test_files_in_memory_end_with_the_boot(
    place: FilesystemLocation, now: dict[str, object], tmp_path: Path
) -> None:
    now |= {"filesystem": "ext4"}
    memory = replace(place, filesystem="tmpfs")
    assert not is_reachable(memory, tmp_path)
    assert is_reachable(replace(memory, boot="another"), tmp_path)


@pytest.mark.parametrize("error", [ValueError("no mount is shown"), PermissionError(13, "no")])
def test_without_mountinfo_no_file_system_is_reachable(
    place: FilesystemLocation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """As in a chroot whose root is no mount point."""

    def find_mount(_: Path) -> None:
        raise error

    monkeypatch.setattr("iostudy.settings.filesystem_location.find_mount", find_mount)
    with pytest.raises(OutOfReachError, match=r"is not visible from here \(chroot\?\)"):
        place.require(tmp_path / "folder", "to remove it")


def test_a_record_and_a_journal_of_a_version_without_it(tmp_path: Path) -> None:
    folder = WorkFolder.prepare(tmp_path)
    record = json.loads(json.dumps(folder.record()))
    assert kinds.rebuild_change(folder.kind, record) == folder
    del record["place"]
    older = kinds.rebuild_change(folder.kind, record)
    folder.apply()
    assert older.undo() == (f"work folder {folder.path}: removed",)
    assert older.undo() == ()
