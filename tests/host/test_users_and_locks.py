"""Tests of `iostudy.host.processes`, with real locks and real processes."""

from __future__ import annotations

import fcntl
import os
import subprocess
import time
from pathlib import Path

import pytest

from iostudy.host.processes import (
    LockHolder,
    belongs_to,
    find_lock_holder,
    find_users,
    one_line,
    read_users,
)


def write_users(process: Path, *users: int) -> None:
    """Write the users of a process into its folder, in the order of proc_pid_status(5)."""
    numbers = "\t".join(map(str, users))
    (process / "status").write_text(f"Name:\tsu\\nUid:\nUid:\t{numbers}\nGid:\t7\t7\t7\t7\n")


def test_a_process_belongs_to_the_user_that_it_is_altogether(tmp_path: Path) -> None:
    assert not belongs_to(tmp_path, (0,)), "it has ended"
    write_users(tmp_path, 0, 0, 0, 0)
    assert not belongs_to(tmp_path, (0,)), "it has no program any more"
    (tmp_path / "exe").touch(0o755)
    assert belongs_to(tmp_path, (0,))
    assert belongs_to(tmp_path, range(5))
    assert not belongs_to(tmp_path, (5,))
    for position in range(4):
        users = [0, 0, 0, 0]
        users[position] = 5
        write_users(tmp_path, *users)
        assert read_users(tmp_path) == {0, 5}
        assert not belongs_to(tmp_path, (0, 5)), "su belongs to nobody"
    write_users(tmp_path, 0, 0, 0, 0)
    (tmp_path / "exe").chmod(0o4755)
    assert not belongs_to(tmp_path, (0,)), "sudo has become root altogether"
    assert read_users(Path("/proc/self")) >= {os.geteuid()}


def test_the_holder_of_a_lock_is_found_without_opening_the_file(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("w") as file:
        assert find_lock_holder(path.stat()) is None
        fcntl.flock(file, fcntl.LOCK_EX)
        holder = find_lock_holder(path.stat())
        assert holder is not None
        assert holder.pid == os.getpid()
        assert "python" in holder.command
    assert find_lock_holder(path.stat()) is None


def test_waiting_process_does_not_hold_the_lock(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "file").touch()
    status = (tmp_path / "file").stat()
    number = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    (tmp_path / "proc/locks").write_text(
        f"1: POSIX  ADVISORY  WRITE 10 {number} 0 EOF\n"
        f"2: FLOCK  ADVISORY  WRITE 11 00:01:{status.st_ino} 0 EOF\n"
        f"2: -> FLOCK  ADVISORY  WRITE 12 {number} 0 EOF\n"
    )
    assert find_lock_holder(status, tmp_path) is None
    with (tmp_path / "proc/locks").open("a") as locks:
        locks.write(f"3: FLOCK  ADVISORY  READ 13 {number} 0 EOF\n")
    assert find_lock_holder(status, tmp_path) == LockHolder(13, "unknown command")


@pytest.mark.child
def test_the_users_of_a_file_are_found(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    link = tmp_path / "link"
    link.symlink_to(path)
    assert find_users(path) == ()
    with path.open() as file:
        command = ["sleep", "60"]
        child = subprocess.Popen(command, stdin=file)
    try:
        while not Path(f"/proc/{child.pid}/cmdline").read_bytes():  # the kernel sets it after exec
            time.sleep(0.001)
        assert find_users(path) == find_users(link) == (LockHolder(child.pid, "sleep 60"),)
    finally:
        child.kill()
        child.wait()


def test_a_command_line_is_one_short_line() -> None:
    assert one_line("\x1b[2J\n\u202ex") == "?[2J??x"
    assert one_line("y" * 999) == "y" * 200 + "..."
