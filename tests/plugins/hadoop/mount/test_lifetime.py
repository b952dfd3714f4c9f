"""The end of a mount: unmounted, interrupted, or killed in each of its parts."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from iostudy.host.mounts import find_mounts_at
from iostudy.settings import server_process
from iostudy_hadoop.mount.mounted import PROGRAM
from tests.cli.program import HANG_GUARD_SECONDS, Program
from tests.plugins.hadoop import webhdfs
from tests.plugins.hadoop.mount.conftest import Mounts
from tests.watchdogs import kill_watchdogs

pytestmark = [pytest.mark.slow, pytest.mark.root, pytest.mark.process]


def server(point: Path) -> int:
    (pid,) = server_process.find((PROGRAM, str(point)))
    return pid


def wait_until_gone(point: Path) -> None:
    until = time.monotonic() + HANG_GUARD_SECONDS
    while find_mounts_at(point) or server_process.find((PROGRAM, str(point))):
        assert time.monotonic() < until
        time.sleep(0.02)
    assert list(point.iterdir()) == []


def end(process: subprocess.Popen[str]) -> tuple[int, str]:
    _, stderr = process.communicate(timeout=HANG_GUARD_SECONDS)
    return process.returncode, stderr


def test_umount_ends_the_command(mounts: Mounts) -> None:
    point, process = mounts.start()
    subprocess.run(["umount", point], check=True)
    assert end(process)[0] == 0
    wait_until_gone(point)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_unmounts(mounts: Mounts, number: signal.Signals, code: int) -> None:
    point, process = mounts.start()
    process.send_signal(number)
    assert end(process)[0] == code
    wait_until_gone(point)


def test_a_killed_server_leaves_no_mount(mounts: Mounts) -> None:
    webhdfs.write(mounts.cluster, "/held", b"x" * 100)
    point, process = mounts.start()
    descriptor = os.open(point / "held", os.O_RDONLY)
    os.kill(server(point), signal.SIGKILL)
    code, stderr = end(process)
    assert code == 3
    assert "SIGKILL" in stderr
    wait_until_gone(point)
    for attempt in (lambda: os.pread(descriptor, 10, 0), lambda: os.close(descriptor)):
        with pytest.raises(OSError) as failed:
            attempt()
        assert failed.value.errno == errno.ENOTCONN


def test_a_killed_command_leaves_no_mount(mounts: Mounts) -> None:
    point, process = mounts.start()
    process.kill()
    process.communicate()
    wait_until_gone(point)


def test_nothing_is_left_if_both_are_killed(mounts: Mounts) -> None:
    point, process = mounts.start()
    pid = server(point)
    process.kill()
    os.kill(pid, signal.SIGKILL)
    process.communicate()
    wait_until_gone(point)


def test_the_next_command_unmounts_without_a_watchdog(mounts: Mounts) -> None:
    point, process = mounts.start()
    kill_watchdogs(mounts.program.env["IOSTUDY_STATE_DIR"])
    process.kill()
    process.wait()  # not for the end of its outputs: the server has them too
    assert find_mounts_at(point)
    done = mounts.program("settings", "block.scheduler")
    assert "unmounted" in done.stderr
    wait_until_gone(point)
    process.communicate()


def test_a_wrong_path_is_named(mounts: Mounts) -> None:
    webhdfs.write(mounts.cluster, "/a-file", b"x")
    point = mounts.new_point()
    for path, message in {"/nowhere": "not found: /nowhere", "/a-file": "is a file"}.items():
        done = mounts.program("mount", mounts.uri(path), str(point))
        assert done.returncode == 3
        assert message in done.stderr
        wait_until_gone(point)


def test_a_folder_that_the_user_may_not_list_is_refused(mounts: Mounts) -> None:
    webhdfs.write(mounts.cluster, "/closed/file", b"x")
    webhdfs.set_mode(mounts.cluster, "/closed", "700")
    point = mounts.new_point()
    program = Program(mounts.program.folder)
    program.env["HADOOP_USER_NAME"] = "somebody"
    done = program("mount", mounts.uri("/closed"), str(point))
    assert done.returncode == 3
    assert "Permission denied: user=somebody" in done.stderr
    wait_until_gone(point)
