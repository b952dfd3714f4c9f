"""Tests of `iostudy.safe_path`: owners, modes, links and kinds of files."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from iostudy.errors import UnsafePathError
from iostudy.safe_path import (
    find_weakness,
    open_directory,
    open_regular,
    read_at_most,
    require_safe,
)

STRANGER = 65534


@pytest.fixture(name="folder")
def folder_(tmp_path: Path) -> Path:
    path = tmp_path / "a" / "b"
    path.mkdir(parents=True)
    for each in (path, path.parent):
        each.chmod(0o755)
    return path


def test_an_own_folder_below_a_sticky_one_is_safe(folder: Path) -> None:
    assert find_weakness(folder) == ""
    require_safe(folder)


@pytest.mark.parametrize("depth", [0, 1])
def test_a_folder_that_all_may_write_to_is_refused(folder: Path, depth: int) -> None:
    weak = (folder, folder.parent)[depth]
    weak.chmod(0o777)
    with pytest.raises(UnsafePathError) as refused:
        require_safe(folder)
    assert refused.value.found == f"{weak} is writable by every user (drwxrwxrwx)"


def test_a_sticky_folder_is_safe_on_the_way_but_not_at_the_end(folder: Path) -> None:
    folder.parent.chmod(0o1777)
    assert find_weakness(folder) == ""
    assert "writable by every user" in find_weakness(folder.parent)
    assert find_weakness(folder.parent, shared=True) == ""


@pytest.mark.root
@pytest.mark.parametrize("depth", [0, 1])
def test_a_folder_of_another_user_is_refused(folder: Path, depth: int) -> None:
    weak = (folder, folder.parent)[depth]
    os.chown(weak, STRANGER, -1)
    assert f"{weak} belongs to user " in find_weakness(folder)


@pytest.mark.root
def test_a_folder_that_a_shared_group_may_write_to_is_refused(folder: Path) -> None:
    os.chown(folder, -1, 100)
    folder.chmod(0o775)
    assert "writable by group" in find_weakness(folder)


def _grant(path: Path, permissions: int) -> None:
    """Give the stranger permissions by an ACL, in the form of linux/posix_acl_xattr.h."""
    entries = [(1, 7, -1), (2, permissions, STRANGER), (4, 5, -1), (16, 7, -1), (32, 5, -1)]
    packed = b"".join(struct.pack("<HHi", *entry) for entry in entries)
    os.setxattr(path, "system.posix_acl_access", struct.pack("<I", 2) + packed)


def test_an_access_control_list_that_lets_another_user_write_is_a_weakness(folder: Path) -> None:
    try:
        _grant(folder, 7)
    except OSError as error:
        pytest.skip(f"no ACLs here: {error.strerror}")
    assert "writable by its access control list" in find_weakness(folder)


def test_links_are_followed_and_what_they_lead_through_is_judged(
    folder: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to("a/../a/b")
    assert find_weakness(link) == ""
    folder.chmod(0o777)
    assert f"{folder} is writable" in find_weakness(link)


@pytest.mark.root
def test_a_link_of_another_user_is_refused(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)
    os.chown(link, STRANGER, -1, follow_symlinks=False)
    assert f"{link} belongs to user" in find_weakness(link)


def test_a_circle_of_links_and_a_missing_part_are_errors(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(OSError, match="Too many levels"):
        find_weakness(tmp_path / "circle")
    with pytest.raises(FileNotFoundError):
        find_weakness(tmp_path / "missing" / "part")


def test_a_file_is_no_directory(folder: Path) -> None:
    (folder / "file").touch()
    assert "is not a directory" in find_weakness(folder / "file")


def test_a_directory_is_not_opened_through_a_link(folder: Path, tmp_path: Path) -> None:
    with open_directory(folder) as descriptor:
        assert os.path.samestat(os.fstat(descriptor), folder.stat())
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(NotADirectoryError), open_directory(tmp_path / "link"):
        pass


def test_a_regular_file_is_opened_in_its_directory(folder: Path) -> None:
    (folder / "file").write_bytes(b"0123456789")
    with open_directory(folder) as directory:
        descriptor = open_regular("file", os.O_RDONLY, dir_fd=directory)
    try:
        assert read_at_most(descriptor, 4) == b"0123"
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("kind", ["link", "fifo", "directory", "writable", "second name"])
def test_a_file_of_another_owner_or_type_is_not_opened(folder: Path, kind: str) -> None:
    path = folder / kind
    match kind:
        case "link":
            path.symlink_to("/etc/passwd")
        case "fifo":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
        case "writable":
            path.touch()
            path.chmod(0o666)
        case "second name":
            path.touch()
            os.link(path, folder / "first name")
    with pytest.raises(OSError):
        open_regular(path, os.O_RDONLY)


@pytest.mark.root
def test_a_file_of_another_user_is_not_opened(folder: Path) -> None:
    path = folder / "file"
    path.touch()
    os.chown(path, STRANGER, -1)
    with pytest.raises(PermissionError, match="belongs to user"):
        open_regular(path, os.O_RDONLY)
