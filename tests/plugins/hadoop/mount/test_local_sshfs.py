"""A folder of the study that sshfs mounts: its server syncs, nobody else enters, a kill ends it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.errors import TargetError
from iostudy.host.mounts import find_mounts_at
from iostudy.line_handler import ignore_line
from iostudy.safe_path import is_private
from iostudy.settings.mount_options import MOUNT_POINTS
from iostudy.settings.transaction.transaction import Transaction
from iostudy.study.targets.target import MountRequest
from iostudy_hadoop.mount import local_sshfs
from tests.cli.program import HANG_GUARD_SECONDS, Program
from tests.mounts import SFTP_SERVER, require_sshfs

STUDY = """\
question: What does a server of files cost?
target: {directories: {local: ., network: {mount: local-sshfs}}}
factors:
  target.directory: [local, network]
  workload.logs: {one: log, two: "log, network:log"}
configurations:
  local: {}
  sshfs: {target.directory: network}
  both: {workload.logs: two}
workloads:
  - nnthroughput: {files: FILES, threads: 4, batch_wait: 0s, figure: create_rate}
decide: {margin: 5%, risk: 5%, blocks: [3, 3]}
"""
POINT = MOUNT_POINTS / "network"


def request(point: Path) -> MountRequest:
    return MountRequest("local-sshfs", point)


@pytest.mark.parametrize("missing", ["sshfs", "sftp-server"])
def test_a_missing_program_is_named_with_its_package(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = () if missing == "sftp-server" else (tmp_path / "server",)
    (tmp_path / "server").touch()
    monkeypatch.setattr(local_sshfs, "require_fuse", lambda: None)
    monkeypatch.setattr(local_sshfs, "_SERVERS", (*servers, Path("/nonexistent/sftp-server")))
    monkeypatch.setattr(local_sshfs.commands, "is_installed", lambda name: name != missing)
    with pytest.raises(TargetError, match=f"{missing} is missing") as raised:
        local_sshfs.require_local_sshfs(request(tmp_path))
    assert raised.value.remedy == "apt-get install sshfs openssh-sftp-server"


@pytest.mark.root
@pytest.mark.process
def test_a_sync_reaches_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require_sshfs()
    server, log = tmp_path / "sftp-server", tmp_path / "log"
    server.write_text(f"#!/bin/sh\nexec {SFTP_SERVER} -e -l DEBUG3 2>{log}\n")
    server.chmod(0o755)
    monkeypatch.setattr(local_sshfs, "_SERVERS", (server,))
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(tmp_path / "state"))
    point = MOUNT_POINTS / f"test-{os.getpid()}"
    with Transaction() as transaction:
        for change in local_sshfs.prepare_local_sshfs(request(point), tmp_path, ignore_line):
            transaction.apply(change)
        assert is_private(point)
        with (point / "file").open("wb", buffering=0) as file:
            for number in range(1, 4):
                file.write(b"x" * 5000)
                os.fdatasync(file.fileno())
                assert log.read_text().count("fsync (handle") == number
        (served,) = tmp_path.glob("iostudy-work-*")
        assert (served / "file").stat().st_size == 15_000
    assert not point.exists()
    assert not served.exists()


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    require_sshfs()
    program = Program(tmp_path)
    yield program
    program.end()
    assert program.residue() == []
    assert not POINT.exists()


def processes(folder: Path) -> list[bytes]:
    """The command lines of programs that work on the folder or on the mount point."""
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    return [line for line in lines if f"localhost:{folder}".encode() in line]


@pytest.mark.root
@pytest.mark.process
def test_a_study_compares_it_and_its_copies_of_a_log(program: Program) -> None:
    program.write(STUDY.replace("FILES", "100"))
    plan = program("check", "study.yaml", "--full")
    assert plan.returncode == 0, plan.stderr
    assert f"local-sshfs is mounted at {POINT}" in plan.stdout
    done = program.run_study()
    assert done.returncode == 0, done.stderr
    report = json.loads((program.out / "report.json").read_text())
    (network,) = (place for place in report["directories"] if place["name"] == "network")
    assert (network["storage"], network["filesystem"]) == ("network", "fuse.sshfs")
    assert {"nosuid", "nodev"} <= set(network["options"])
    assert {trial["configuration"] for trial in report["trials"]} == {"local", "sshfs", "both"}
    more = program("run", "out", "--resume", "--more", "1block")
    assert more.returncode == 0, more.stderr


@pytest.mark.root
@pytest.mark.process
def test_a_killed_study_leaves_neither_mount_nor_process(program: Program) -> None:
    program.write(STUDY.replace("FILES", "1M"))
    running = program.start_study()
    while not find_mounts_at(POINT):
        assert running.poll() is None, running.communicate()
    program.kill_without_watchdog(running)
    assert processes(program.out)
    restored = program("restore")
    assert restored.returncode == 0, restored.stderr
    assert not find_mounts_at(POINT)
    until = time.monotonic() + HANG_GUARD_SECONDS
    while processes(program.out):
        assert time.monotonic() < until
    assert not list(program.out.glob("iostudy-work-*"))
