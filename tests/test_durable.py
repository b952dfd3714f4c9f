"""Files are whole, and nobody who may write to their folder makes us write elsewhere."""

from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import pytest

from iostudy.durable import make_directory, open_new, replace_whole, write_whole
from iostudy.errors import UnsafePathError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=["unnamed", "named"], autouse=True)
def temporary(request, monkeypatch):
    """Some file systems have no files without a name; open(2) then fails with EISDIR, as here."""
    if request.param == "named":
        monkeypatch.setattr("iostudy.durable._UNNAMED", os.O_WRONLY)
    return request.param


@pytest.fixture(params=[0o022, 0o077])
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("write", [write_whole, replace_whole])
def test_a_file_is_replaced_for_everyone_to_read(tmp_path, write):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == 0o644
    assert list(tmp_path.iterdir()) == [path]


def test_file_copies_mode_and_owner_on_request(tmp_path):
    model, path = tmp_path / "model", tmp_path / "file"
    model.touch(0o600)
    write_whole(path, b"new", like=model)
    assert mode(path) == 0o600


def test_only_what_is_to_last_is_brought_to_disk(tmp_path, monkeypatch):
    synced: list[int] = []
    monkeypatch.setattr("iostudy.durable.os.fsync", synced.append)
    replace_whole(tmp_path / "file", b"new")
    assert not synced
    write_whole(tmp_path / "file", b"new")
    assert len(synced) == 2


@pytest.mark.parametrize("write", [write_whole, replace_whole])
def test_a_failed_write_leaves_the_old_file_only(tmp_path, monkeypatch, write):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr("iostudy.durable.os.fchmod", full)
    with pytest.raises(OSError, match="No space"):
        write(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_whoever_puts_a_link_in_place_of_the_new_file_gets_no_other_ones_mode_changed(
    tmp_path, monkeypatch
):
    """As the owner of the folder may, between any two of our calls."""
    secret, folder = tmp_path / "secret", tmp_path / "folder"
    secret.touch(0o600)
    folder.mkdir()
    replace, swapped = os.replace, []

    def swap(*names: str, **folders: int) -> None:
        for new in folder.glob(".file.*"):
            swapped.append(new)
            new.unlink()
            new.symlink_to(secret)
        replace(*names, **folders)

    monkeypatch.setattr("iostudy.durable.os.replace", swap)
    write_whole(folder / "file", b"new")
    assert len(swapped) == 1
    assert mode(secret) == 0o600
    assert secret.read_bytes() == b""


@pytest.mark.child
def test_a_killed_writer_leaves_nothing(tmp_path, temporary):
    child = os.fork()
    if not child:
        with open_new(tmp_path / "file") as file:
            file.write(b"begun")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    left = len(list(tmp_path.iterdir()))
    assert left == (0 if temporary == "unnamed" else 1)


def test_a_new_file_takes_no_name_that_is_taken(tmp_path):
    path = tmp_path / "file"
    with open_new(path) as file:
        file.write(b"new")
        path.write_bytes(b"other")
        path.unlink()
    assert path.read_bytes() == b"new"
    with pytest.raises(FileExistsError), open_new(path) as file:
        file.write(b"newer")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("umask")
def test_a_directory_and_its_parents_are_durable(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr("iostudy.durable.fsync_directory", synced.append)
    make_directory(tmp_path / "a/b/c", 0o750)
    assert synced == [tmp_path, tmp_path / "a", tmp_path / "a/b"]
    assert [mode(tmp_path / each) for each in ("a", "a/b", "a/b/c")] == [0o750] * 3
    make_directory(tmp_path / "a/b/c", 0o700)
    assert mode(tmp_path / "a/b/c") == 0o750
    assert len(synced) == 3


def test_no_directory_is_made_where_another_user_could_redirect_it(tmp_path):
    weak = tmp_path / "weak"
    weak.mkdir()
    weak.chmod(0o777)
    for directory in (weak, weak / "a/b"):
        with pytest.raises(UnsafePathError, match="writable by every user"):
            make_directory(directory, 0o700)
    assert list(weak.iterdir()) == []
    weak.chmod(0o1777)
    make_directory(weak / "a/b", 0o700)


def test_a_directory_is_not_made_below_a_file(tmp_path):
    (tmp_path / "file").touch()
    for directory in (tmp_path / "file", tmp_path / "file/below"):
        with pytest.raises(NotADirectoryError):
            make_directory(directory, 0o700)


def test_a_parent_that_is_a_link_is_followed_only_if_that_is_meant(tmp_path):
    vault, link = tmp_path / "vault", tmp_path / "telemetry"
    vault.mkdir()
    link.symlink_to(vault)
    with pytest.raises(NotADirectoryError):
        write_whole(link / "file", b"new", follow_parent=False)
    assert list(vault.iterdir()) == []
    write_whole(link / "file", b"new")
    assert (vault / "file").read_bytes() == b"new"
