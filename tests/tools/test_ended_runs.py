"""Tests of the clean-up after a killed run of pytest; a run that goes on keeps everything."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.ended_runs import CLUSTER, clean_up
from tests.run_folders import LOCK, lock

pytestmark = pytest.mark.root


def leave(run: Path) -> subprocess.Popen[bytes]:
    """A mounted loop device and a daemon of a cluster in the folder of a worker."""
    worker = run / "popen-gw0"
    (worker / "mount").mkdir(parents=True)
    (worker / LOCK).touch()
    (worker / "image").touch()
    os.truncate(worker / "image", 4 << 20)
    subprocess.run(["mkfs.ext4", "-q", worker / "image"], check=True)
    subprocess.run(["mount", "-o", "loop", worker / "image", worker / "mount"], check=True)
    marked = {**os.environ, CLUSTER: "0123456789abcdef"}
    return subprocess.Popen(["tail", "-f", worker / "image"], env=marked)


def test_what_a_killed_run_left_is_removed_and_that_of_another_stays(tmp_path: Path):
    ended, running = tmp_path / "pytest-1", tmp_path / "pytest-2"
    with leave(ended) as daemon, leave(running) as other:
        with lock(running / "popen-gw0"):
            clean_up(tmp_path.iterdir())
            assert daemon.wait() < 0
            assert other.poll() is None
            assert not (ended / "popen-gw0/mount").is_mount()
            assert (running / "popen-gw0/mount").is_mount()
        clean_up(tmp_path.iterdir())
        assert other.wait() < 0
    end = time.monotonic() + 120  # the kernel detaches a loop device some time after its unmount
    while str(tmp_path) in subprocess.check_output(["losetup", "--all"], text=True):
        assert time.monotonic() < end, "a loop device stays attached"
        time.sleep(0.05)


LEAVE_A_SETTING = """
import os, signal, sys
from iostudy.settings import kinds
from iostudy.settings.transaction.transaction import Transaction
wanted = dict.fromkeys(kinds.bind("block.read_ahead_kb", sys.argv[1]), "64")
Transaction().apply(*kinds.prepare_changes(wanted))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_settings_that_a_killed_test_left_are_restored(tmp_path: Path, loop: str):
    read_ahead = Path(f"/sys/block/{loop}/queue/read_ahead_kb")
    worker = tmp_path / "pytest-1" / "popen-gw0"
    worker.mkdir(parents=True)
    held = lock(worker)
    state = {**os.environ, "IOSTUDY_STATE_DIR": str(worker / "test_0/state")}
    before = read_ahead.read_text()
    subprocess.run([sys.executable, "-c", LEAVE_A_SETTING, loop], env=state, check=False)
    clean_up(tmp_path.iterdir())
    assert read_ahead.read_text() == "64\n" != before
    held.close()
    clean_up(tmp_path.iterdir())
    assert read_ahead.read_text() == before
