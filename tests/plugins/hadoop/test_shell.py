"""Tests of the command lines of Hadoop's shell programs, with a Java that records its arguments."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iostudy.errors import ClusterError
from iostudy_hadoop import shell
from iostudy_hadoop.command import CommandLimits
from iostudy_hadoop.shell import Shell

FOLDER = "hdfs://nn:8020/bench/iostudy-work-1"


@pytest.fixture
def java(tmp_path: Path) -> Path:
    """Notes its arguments, one a line, and its environment; says what ``says`` says."""
    program = tmp_path / "java"
    program.write_text(
        f"#!/bin/sh\ncd {tmp_path}\n"
        'printf "%s\\n" "$@" >>arguments\necho "$HADOOP_CONF_DIR" >conf-dir\n. ./says\n'
    )
    program.chmod(0o755)
    (tmp_path / "says").write_text("exit 0\n")
    return program


@pytest.fixture
def hadoop(java: Path, tmp_path: Path) -> Shell:
    return Shell(java, ("--add-opens", "java.base/java.lang=ALL-UNNAMED"), "/lib/*", tmp_path)


def arguments(java: Path) -> list[str]:
    return (java.parent / "arguments").read_text().splitlines()


def says(java: Path, script: str) -> None:
    (java.parent / "says").write_text(script)


def test_folder_is_created_in_its_parent(hadoop: Shell, java: Path) -> None:
    hadoop.make_folder(FOLDER)
    command = arguments(java)
    assert command[-2:] == ["-mkdir", FOLDER]
    assert command[command.index("-cp") + 1] == f"{java.parent}:/lib/*"
    assert "ipc.client.connect.max.retries=1" in command
    assert (java.parent / "conf-dir").read_text().strip() == str(java.parent)


def test_folder_is_tested_without_listing_it(hadoop: Shell, java: Path) -> None:
    hadoop.require_folder(FOLDER)
    assert arguments(java)[-3:] == ["-ls", "-d", FOLDER]


def test_removal_skips_the_trash(hadoop: Shell, java: Path) -> None:
    hadoop.remove(FOLDER)
    assert arguments(java)[-5:] == ["-rm", "-r", "-f", "-skipTrash", FOLDER]


def test_no_shell_sees_a_path(hadoop: Shell, java: Path) -> None:
    path = "hdfs:///a b;$(touch bad)*"
    hadoop.remove(path)
    assert arguments(java)[-1] == path
    assert not (java.parent / "bad").exists()


def test_failure_names_the_expectation_and_the_place(hadoop: Shell, java: Path) -> None:
    says(java, "echo 'mkdir: Permission denied: user=nobody, access=WRITE' >&2; exit 1\n")
    with pytest.raises(ClusterError, match="does not permit") as caught:
        hadoop.make_folder(FOLDER)
    assert caught.value.where == FOLDER


def test_hanging_command_is_ended(
    hadoop: Shell, java: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell, "_LIMITS", CommandLimits(seconds=0.3, silence_seconds=0.3))
    says(java, "echo $$ >pid; exec sleep 600\n")
    with pytest.raises(ClusterError, match="had not ended after"):
        hadoop.remove(FOLDER)
    assert not is_running(java.parent)


def test_command_ends_with_iostudy(hadoop: Shell, java: Path) -> None:
    """Whoever puts things back after a kill -9 finds nobody at work in HDFS."""
    says(java, "echo $$ >pid; exec sleep 600\n")
    code = f"from iostudy_hadoop.shell import *; {hadoop!r}.remove('x')".replace(
        "PosixPath(", "Path("
    )
    with subprocess.Popen([sys.executable, "-c", code]) as victim:
        wait_for(java.parent / "pid")
        victim.send_signal(signal.SIGKILL)
    until = time.monotonic() + 300
    while is_running(java.parent) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_running(java.parent)


def test_the_jobs_with_a_tag_are_killed(hadoop: Shell, java: Path) -> None:
    says(
        java,
        "case \"$*\" in *-list*) cat <<'END'\nTotal number of applications: 2\n"
        "                Application-Id\t    Application-Name\n"
        "application_1795286403595_0001\t  TeraGen\t MAPREDUCE\n"
        "application_1795286403595_0002\t  application_9_9\t MAPREDUCE\nEND\nesac\n",
    )
    jobs = ("application_1795286403595_0001", "application_1795286403595_0002")
    assert hadoop.kill_jobs("iostudy-7") == jobs
    command = arguments(java)
    assert command[command.index("-appTags") + 1] == "iostudy-7"
    assert command[command.index("-appStates") + 1].startswith("NEW,")  # accepted a moment ago
    assert tuple(command[-3:]) == ("-kill", *jobs)


def test_without_any_job_none_is_killed(hadoop: Shell, java: Path) -> None:
    assert hadoop.kill_jobs("iostudy-7") == ()
    assert "-kill" not in arguments(java)


def is_running(folder: Path) -> bool:
    pid = int((folder / "pid").read_text())
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def wait_for(path: Path) -> None:
    until = time.monotonic() + 300
    while not (path.exists() and path.read_text().strip()):
        assert time.monotonic() < until
        time.sleep(0.01)
