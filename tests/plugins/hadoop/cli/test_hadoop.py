"""Tests of ``iostudy hadoop``: a user's cluster, started, inspected, damaged and stopped."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from iostudy_hadoop import processes
from tests.cli.program import HANG_GUARD_SECONDS, Program


def standing(program: Program) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(program("hadoop", "status", "--json").stdout)
    return document


def identity(program: Program) -> str:
    layout = json.loads((program.folder / "state/hadoop/cluster.json").read_text())
    return str(layout["identity"])


def left(program: Program) -> list[str]:
    """Files of a cluster, apart from conf and logs."""
    state = program.folder / "state"
    journals = [path.name for path in state.glob("*.journal")]
    home = [path.name for path in (state / "hadoop").iterdir()]
    data = [path.name for path in program.folder.glob("disk*/*")]
    return sorted({*journals, *home, *data} - {"conf", "logs"})


def test_without_a_cluster(program: Program) -> None:
    done = program("hadoop", "status")
    assert done.returncode == 3
    assert "iostudy hadoop up" in done.stdout
    assert standing(program) == {"up": False, "lacks": "a cluster"}
    done = program("hadoop", "down")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no cluster to stop" in done.stderr
    done = program("hadoop", "logs")
    assert done.returncode == 2
    assert "there are none" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-p", "dfs.replication"), "-p dfs.blocksize=64m"),
        (("-p", "a=1", "-p", "a=2"), "each once"),
        (("--datanodes", "0"), "--datanodes"),
        (("--datanodes", "65"), "--datanodes"),
    ],
)
def test_invalid_requests_are_refused(
    program: Program, options: tuple[str, ...], message: str
) -> None:
    done = program("hadoop", "up", *options)
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-p", "dfs.namenode.name.dir=/x"), "dfs.namenode.name.dir"),
        (("--data-dir", "nowhere"), "No such file or directory"),
    ],
)
@pytest.mark.usefixtures("java")
def test_failed_start_leaves_nothing(
    program: Program, options: tuple[str, ...], message: str
) -> None:
    done = program("hadoop", "up", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert left(program) == []


@pytest.mark.process
@pytest.mark.usefixtures("java")
def test_a_cluster_from_up_to_down(program: Program) -> None:
    disks = [program.folder / name for name in ("disk0", "disk1")]
    for disk in disks:
        disk.mkdir()
    options = [text for disk in disks for text in ("--data-dir", disk.name)]
    done = program("hadoop", "up", "--datanodes", "2", *options, "-p", "dfs.replication=1")
    assert done.returncode == 0, done.stderr
    assert "2 DataNodes, local runner: ready after" in done.stdout
    assert "export HADOOP_CONF_DIR=" in done.stdout
    status = standing(program)
    assert status["up"] and not status["lacks"]
    assert set(status["daemons"]) == {"namenode", "datanode0", "datanode1"}
    assert all(fact["resident_bytes"] > 10 << 20 for fact in status["daemons"].values())
    assert all(list(disk.iterdir()) for disk in disks)
    assert program("hadoop", "status").returncode == 0
    twice = program("hadoop", "up")
    assert twice.returncode == 2
    assert "iostudy hadoop down" in twice.stderr
    a_datanode_is_killed(program, status["daemons"]["datanode1"]["pid"])
    cluster = identity(program)
    done = program("hadoop", "down")
    assert done.returncode == 0, done.stderr
    assert "freed: " in done.stderr
    assert left(program) == []
    assert processes.find_processes(cluster) == ()
    assert program("hadoop", "logs", "namenode").returncode == 0


def a_datanode_is_killed(program: Program, pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_until_gone(pid)
    done = program("hadoop", "status")
    assert done.returncode == 3
    assert "datanode1 ended" in done.stdout
    assert "its log ends:" in done.stdout
    status = standing(program)
    assert not status["up"]
    assert status["log_ends"]["datanode1"]
    done = program("hadoop", "logs", "datanode1", "--lines", "3")
    assert len(done.stdout.splitlines()) == 4
    assert program("hadoop", "logs", "datanode7").returncode == 2


@pytest.mark.usefixtures("java")
def test_next_command_removes_the_cluster_of_a_killed_up(
    program: Program,
) -> None:
    started = program.start("hadoop", "up")
    home = program.folder / "state/hadoop"
    wait_for(home / "logs/namenode.log")
    cluster = identity(program)
    started.send_signal(signal.SIGKILL)
    started.communicate(timeout=HANG_GUARD_SECONDS)
    assert processes.find_processes(cluster)
    done = program("settings", "block.scheduler")
    assert done.returncode == 0
    assert f"restored: Hadoop cluster {cluster}" in done.stderr
    assert processes.find_processes(cluster) == ()
    assert left(program) == []


@pytest.mark.usefixtures("java")
def test_an_up_that_is_interrupted_leaves_nothing(program: Program) -> None:
    started = program.start("hadoop", "up")
    wait_for(program.folder / "state/hadoop/cluster.json")
    cluster = identity(program)
    started.send_signal(signal.SIGINT)
    started.communicate(timeout=HANG_GUARD_SECONDS)
    assert started.returncode == 130
    assert processes.find_processes(cluster) == ()
    assert left(program) == []


def wait_for(path: Path) -> None:
    until = time.monotonic() + HANG_GUARD_SECONDS
    while not path.exists():
        assert time.monotonic() < until, path
        time.sleep(0.02)


def wait_until_gone(pid: int) -> None:
    until = time.monotonic() + HANG_GUARD_SECONDS
    while processes.identify_child(pid, "").runs():
        assert time.monotonic() < until
        time.sleep(0.02)
