"""Processes are found by their marker alone, and are ended whatever they do against it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iostudy.errors import ClusterError
from iostudy_hadoop import processes
from iostudy_hadoop.namespace import HOLDER
from tests.stranger import imitations

pytestmark = pytest.mark.child

STUBBORN = "import signal,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


@pytest.fixture
def cluster():
    name = f"test-{os.getpid()}-{time.monotonic_ns()}"
    yield name
    processes.end_processes(name)


def start(cluster, tmp_path, *command, daemon="sleeper"):
    marked = {**os.environ, processes.CLUSTER: cluster, processes.DAEMON: daemon}
    child = processes.start(command, marked, tmp_path, tmp_path / "out")
    return processes.identify_child(child.pid, daemon)


def test_all_with_the_marker_are_found_and_no_others(cluster, tmp_path):
    first = start(cluster, tmp_path, "sleep", "600")
    second = start(cluster, tmp_path, "sleep", "600", daemon="other")
    start(f"{cluster}0", tmp_path, "sleep", "600")
    # One that is becoming another program has no environment for a moment.
    while set(processes.find_processes(cluster)) != {first, second}:
        time.sleep(0.01)
    assert len(processes.find_processes(f"{cluster}0")) == 1
    processes.end_processes(f"{cluster}0")
    assert first.runs()
    assert first.arguments() == ("sleep", "600")
    assert first.resident_bytes() > 0


@pytest.mark.root
def test_what_another_user_starts_is_no_process_of_the_cluster(cluster):
    """Not even by su or sudo, which belong to root and have the environment of their caller."""
    with imitations({processes.CLUSTER: cluster, processes.DAEMON: HOLDER}) as pids:
        assert len(pids) == 3
        assert processes.find_processes(cluster, (0, *processes.UIDS)) == ()


def test_children_of_a_daemon_end_with_it(cluster, tmp_path):
    parent = start(cluster, tmp_path, "sh", "-c", "sleep 600 & exec sleep 600")
    while len(processes.find_processes(cluster)) < 2:
        time.sleep(0.01)
    os.kill(parent.pid, signal.SIGKILL)
    processes.end_processes(cluster)
    assert not processes.find_processes(cluster)
    assert not parent.runs()


def test_process_that_ignores_sigterm_is_killed(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_GRACE_SECONDS", 0.5)
    stubborn = start(cluster, tmp_path, sys.executable, "-c", STUBBORN)
    time.sleep(0.3)
    processes.end_processes(cluster)
    assert not stubborn.runs()


def test_unkillable_process_is_named(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "_GRACE_SECONDS", 0.1)
    monkeypatch.setattr(processes, "_KILLED_WITHIN_SECONDS", 0.1)
    left = start(cluster, tmp_path, "sleep", "600")
    with monkeypatch.context() as powerless:
        powerless.setattr(os, "kill", lambda *_: None)
        with pytest.raises(ClusterError, match=f"pid {left.pid} sleeper"):
            processes.end_processes(cluster)


def test_a_child_that_ended_does_not_run_and_is_no_zombie(cluster, tmp_path):
    ended = start(cluster, tmp_path, "true")
    while ended.runs():
        time.sleep(0.01)
    assert ended.arguments() == ()
    assert ended.resident_bytes() == 0
    processes.reap()
    assert not Path(f"/proc/{ended.pid}").exists()


def open_files(pid):
    """What the process has open, but for files that it closes meanwhile."""
    opened = set()
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            opened.add(str(link.readlink()))
    return opened


def test_none_of_our_files_is_inherited_and_the_terminal_cannot_reach_it(cluster, tmp_path):
    with (tmp_path / "lock").open("w") as lock:
        os.set_inheritable(lock.fileno(), True)
        child = start(cluster, tmp_path, "sleep", "600")
        opened, ours = open_files(child.pid), open_files(os.getpid())
    # What the program opens itself, as its locale while it starts, is its own affair.
    assert opened & ours <= {"/dev/null"}
    assert {"/dev/null", str(tmp_path / "out")} <= opened
    assert os.getsid(child.pid) == child.pid


def test_another_process_of_the_same_pid_is_not_taken_for_it(cluster, tmp_path):
    child = start(cluster, tmp_path, "sleep", "600")
    assert not processes.DaemonProcess(child.pid, child.started_ticks - 1).runs()


def test_a_missing_program_is_an_error_at_once(cluster, tmp_path):
    with pytest.raises(FileNotFoundError):
        start(cluster, tmp_path, str(tmp_path / "none"))
    assert subprocess.run(["true"], check=True).returncode == 0
