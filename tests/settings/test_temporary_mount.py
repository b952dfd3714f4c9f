"""A mount that a study makes: made, recognised, unmounted, and what mount(8) refuses."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import BusyError, RestoreError, TargetError
from iostudy.host.mounts import find_mounts_at
from iostudy.safe_path import is_private
from iostudy.settings import commands, kinds
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.mount_options import MOUNT_POINTS
from iostudy.settings.mounting.calls import unmount_all
from iostudy.settings.temporary_mount import TemporaryMount
from iostudy.settings.transaction.locks import lock_mount_points
from tests.mounts import mounted, sftp_server

pytestmark = pytest.mark.root


@pytest.fixture
def point(tmp_path: Path) -> Path:
    found = tmp_path / "point"
    found.mkdir()
    return found


def again(change: TemporaryMount) -> TemporaryMount:
    """The change as recovery rebuilds it."""
    rebuilt = kinds.rebuild_change(change.kind, change.record())
    assert isinstance(rebuilt, TemporaryMount)
    return rebuilt


def test_it_is_mounted_with_its_options_and_unmounted(point: Path) -> None:
    change = TemporaryMount.prepare(point, "own", "tmpfs", "size=1M,noatime")
    change.apply()
    (found,) = find_mounts_at(point)
    assert (found.filesystem, found.source) == ("tmpfs", "own")
    assert "noatime" in found.options
    assert "size=1024k" in found.super_options
    assert again(change).undo() == (f"mount of own on {point}: unmounted",)
    assert find_mounts_at(point) == ()
    assert again(change).undo() == ()


def test_open_files_do_not_keep_it(point: Path) -> None:
    change = TemporaryMount.prepare(point, "own", "tmpfs", "")
    change.apply()
    with (point / "file").open("w"):
        assert change.undo()
        assert find_mounts_at(point) == ()


def test_a_point_in_use_is_refused(point: Path) -> None:
    (point / "file").touch()
    with pytest.raises(TargetError, match="files are in it"):
        TemporaryMount.prepare(point, "own", "tmpfs", "")
    (point / "file").unlink()
    with mounted(point, "-t", "tmpfs", "tmpfs"), pytest.raises(TargetError, match="a mount point"):
        TemporaryMount.prepare(point, "own", "tmpfs", "")


def test_the_message_of_mount_is_in_the_error(point: Path) -> None:
    change = TemporaryMount.prepare(point, "own", "tmpfs", "size=many")
    with pytest.raises(TargetError, match="bad option"):
        change.apply()
    assert find_mounts_at(point) == ()


def test_another_mount_over_it_is_left(point: Path) -> None:
    change = TemporaryMount.prepare(point, "own", "tmpfs", "")
    change.apply()
    with (
        mounted(point, "-t", "ramfs", "other"),
        pytest.raises(RestoreError, match="another mount lies over it"),
    ):
        change.undo()
    assert [mount.source for mount in find_mounts_at(point)] == ["own"]
    change.undo()


def test_a_foreign_mount_is_not_unmounted(point: Path) -> None:
    change = TemporaryMount.prepare(point, "own", "tmpfs", "")
    with mounted(point, "-t", "ramfs", "other"):
        with pytest.raises(RestoreError, match="ramfs of other is mounted there"):
            change.undo()
        (message,) = change.undo(ConflictPolicy.ACCEPT)
        assert "left there: ramfs of other" in message
        assert find_mounts_at(point)


def test_a_mount_of_another_boot_is_gone(point: Path) -> None:
    change = replace(TemporaryMount.prepare(point, "own", "tmpfs", ""), boot="another")
    with mounted(point, "-t", "tmpfs", "own"):
        assert again(change).undo() == ()
        assert find_mounts_at(point)


@pytest.mark.process
def test_a_server_of_the_mount_does_not_keep_the_journal_locked(
    point: Path, tmp_path: Path
) -> None:
    served, journal = tmp_path / "served", tmp_path / "journal"
    served.mkdir()
    with sftp_server() as port, journal.open("w") as lock:
        os.set_inheritable(lock.fileno(), True)  # as the journal's is
        fcntl.flock(lock, fcntl.LOCK_EX)
        change = TemporaryMount.prepare(
            point, f"127.0.0.1:{served}", "fuse.sshfs", f"directport={port}"
        )
        change.apply()
        lock.close()
        with journal.open() as other:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        (point / "file").write_text("x")
        assert (served / "file").read_text() == "x"
        change.undo()


@pytest.mark.process
def test_a_mount_under_way_keeps_the_lock_after_a_kill(tmp_path: Path) -> None:
    """Recovery waits for the lock, so it does not miss a mount that appears late."""
    tool = tmp_path / "mount"
    tool.write_text(f"#!/bin/sh\ntouch {tmp_path}/began\nsleep 2\ntouch {tmp_path}/ended\n")
    tool.chmod(0o755)
    code = f"""
import fcntl, os
from iostudy.settings import commands

lock = open({str(tmp_path / "journal")!r}, "w")
os.set_inheritable(lock.fileno(), True)
fcntl.flock(lock, fcntl.LOCK_EX)
commands.run_kept("mount")
"""
    path = os.pathsep.join((str(tmp_path), commands.SEARCH_PATH))
    child = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PATH": path})
    while not (tmp_path / "began").exists():
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    with (tmp_path / "journal").open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert (tmp_path / "ended").exists()


def test_an_interrupted_mount_is_ended(point: Path, tmp_path: Path, monkeypatch) -> None:
    tool = tmp_path / "mount"
    tool.write_text(f"#!/bin/sh\necho $$ >{tmp_path}/pid\nexec sleep 100\n")
    tool.chmod(0o755)
    monkeypatch.setattr(commands, "SEARCH_PATH", f"{tmp_path}{os.pathsep}{commands.SEARCH_PATH}")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    former = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 1)
    try:
        with pytest.raises(KeyboardInterrupt):
            commands.run_kept("mount", "own", str(point))
    finally:
        signal.signal(signal.SIGALRM, former)
    assert not is_running(int((tmp_path / "pid").read_text()))


def is_running(pid: int) -> bool:
    """Whether a process runs; one that nobody has reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.fixture
def own_point() -> Iterator[Path]:
    """A mount point that the study makes, with a name of this test."""
    point = MOUNT_POINTS / f"test-{os.getpid()}"
    yield point
    unmount_all(point, "own", lambda _: True)
    assert not point.exists()


def test_an_own_point_is_made_and_removed_and_only_root_enters_it(own_point: Path) -> None:
    MOUNT_POINTS.mkdir(parents=True, exist_ok=True)
    MOUNT_POINTS.chmod(0o755)  # an administrator may have made it
    change = TemporaryMount.prepare(own_point, "own", "tmpfs", "mode=777")
    assert not own_point.exists()
    change.apply()
    assert find_mounts_at(own_point)
    assert is_private(own_point)
    assert again(change).undo() == (f"mount of own on {own_point}: unmounted",)
    assert not own_point.exists()


def test_a_failed_mount_leaves_no_own_point(own_point: Path) -> None:
    change = TemporaryMount.prepare(own_point, "own", "tmpfs", "size=many")
    with pytest.raises(TargetError, match="to mount own"):
        change.apply()
    assert change.undo() == ()
    assert not own_point.exists()


def test_an_own_point_that_is_a_link_or_in_use_is_refused(own_point: Path, tmp_path: Path) -> None:
    MOUNT_POINTS.mkdir(mode=0o700, parents=True, exist_ok=True)
    (tmp_path / "file").touch()
    own_point.symlink_to(tmp_path)
    with pytest.raises(TargetError, match="files are in it"):
        TemporaryMount.prepare(own_point, "own", "tmpfs", "")
    own_point.unlink()


def test_one_study_at_a_time_has_an_own_point(own_point: Path) -> None:
    with (
        lock_mount_points([own_point, Path("/mnt/of-the-user")]),
        pytest.raises(BusyError, match=own_point.name),
        lock_mount_points([own_point]),
    ):
        pass
