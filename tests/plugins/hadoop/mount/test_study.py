"""Studies on a mount of HDFS: compared with a local directory, with the read buffer as a factor."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.host.mounts import find_mounts_at
from iostudy.settings.mount_options import MOUNT_POINTS
from iostudy_hadoop.software.artifacts import Distribution
from tests.cli.program import Program
from tests.plugins.hadoop import webhdfs
from tests.plugins.hadoop.mount.conftest import Mounts, statistics
from tests.watchdogs import kill_watchdogs

pytestmark = [pytest.mark.slow, pytest.mark.root, pytest.mark.process]

STUDY = """\
question: Which place, and which read buffer?
target: {directories: {local: LOCAL, hdfs: POINT}}
factors:
  target.directory: [local, hdfs]
  mount.hdfs.rdbuffer: {levels: [10MiB, 64KiB], on: POINT}
configurations:
  local: {}
  hdfs: {target.directory: hdfs}
  hdfs 64 KiB: {target.directory: hdfs, mount.hdfs.rdbuffer: 64KiB}
workloads:
  - events: {jobs: 2, events: EVENTS, compute: 1ms}
decide: {margin: 5%, risk: 5%, blocks: [3, 3]}
"""


def write_study(mounts: Mounts, events: int) -> Path:
    """Mount a writable HDFS and write the study of it; return the mount point."""
    point, _ = mounts.start("--writable", "--rdbuffer", "1MiB")
    local = mounts.program.folder / "local"
    local.mkdir()
    text = STUDY.replace("LOCAL", str(local)).replace("POINT", str(point))
    mounts.program.write(text.replace("EVENTS", str(events)))
    return point


def iostudy_files(point: Path) -> list[str]:
    return [each.name for each in point.iterdir() if each.name.startswith("iostudy")]


def test_hdfs_is_compared_with_a_local_directory(mounts: Mounts) -> None:
    point = write_study(mounts, events=3)
    plan = mounts.program("check", "study.yaml", "--full")
    assert plan.returncode == 0, plan.stderr
    assert f"at {point} (network)" in plan.stdout
    done = mounts.program.run_study()
    assert done.returncode == 0, done.stderr
    assert iostudy_files(point) == []
    assert os.getxattr(point, "user.iostudy.rdbuffer") == str(1 << 20).encode()
    report = json.loads((mounts.program.out / "report.json").read_text())
    assert {each["name"] for each in report["directories"]} == {"local", "hdfs"}
    buffers = {
        each["configuration"]: each["settings"][f"mount.hdfs.rdbuffer@{point}"]
        for each in report["trials"]
    }
    assert buffers == {"local": "10485760", "hdfs": "10485760", "hdfs 64 KiB": "65536"}


def test_a_killed_study_leaves_neither_files_nor_settings(mounts: Mounts) -> None:
    point = write_study(mounts, events=3000)
    running = mounts.program.start_study()
    while os.getxattr(point, "user.iostudy.rdbuffer") == str(1 << 20).encode():
        assert running.poll() is None, running.communicate()
    running.send_signal(signal.SIGKILL)
    running.communicate()
    restored = mounts.program("restore")
    assert restored.returncode == 0, restored.stderr
    assert iostudy_files(point) == []
    assert os.getxattr(point, "user.iostudy.rdbuffer") == str(1 << 20).encode()


def test_a_writing_workload_runs_on_hdfs(mounts: Mounts) -> None:
    point, _ = mounts.start("--writable")
    program: Program = mounts.program
    program.write(f"""\
question: How fast is HDFS through its mount?
target: {point}
factors: {{bdi.read_ahead_kb: [128, 1024]}}
workloads:
  - dfsio-write: {{files: 2, size: 6MiB}}
  - dfsio-read: {{files: 2, size: 6MiB}}
decide: {{margin: 5%, risk: 5%, blocks: [3, 3]}}
""")
    done = program.run_study()
    assert done.returncode == 0, done.stderr
    assert iostudy_files(point) == []


def test_root_files_are_made_on_hdfs(mounts: Mounts) -> None:
    point, _ = mounts.start("--writable")
    mounts.program.write(f"""\
question: How fast are ROOT files on HDFS?
target: {point}
factors: {{mount.hdfs.rdbuffer: [10MiB, 64KiB]}}
workloads:
  - root-events: {{jobs: 2, events: 20, compute: 1ms}}
decide: {{margin: 5%, risk: 5%, blocks: [3, 3]}}
""")
    done = mounts.program.run_study()
    assert done.returncode == 0, done.stderr
    assert iostudy_files(point) == []


def test_the_mount_is_compared_with_the_interface_of_hdfs(mounts: Mounts) -> None:
    pytest.importorskip("hdfs_native")
    webhdfs.write(mounts.cluster, "/base/file", b"x")
    point, _ = mounts.start("--writable", path="/base")
    mounts.program.write(f"""\
question: What does the mount cost?
target: {point}
factors: {{workload.access: [file, hdfs]}}
workloads:
  - root-events: {{jobs: 2, events: 20, compute: 1ms}}
decide: {{margin: 5%, risk: 5%, blocks: [3, 3]}}
""")
    before = statistics(point)["bytes"]
    done = mounts.program.run_study()
    assert done.returncode == 0, done.stderr
    assert iostudy_files(point) == []
    read_bytes = 20 * 1760 * 1024
    assert 3 * read_bytes < statistics(point)["bytes"] - before < 6 * read_bytes


def test_a_study_mounts_hdfs_with_different_options(mounts: Mounts) -> None:
    program: Program = mounts.program
    points = {name: program.folder / name for name in ("large", "small")}
    for point in points.values():
        point.mkdir()
    program.write(f"""\
question: Which read buffer?
target:
  directories:
    large: {{mount: "{mounts.uri()}", at: {points["large"]}}}
    small:
      mount: "{mounts.uri()}"
      at: {points["small"]}
      options: rdbuffer=64KiB,replication=1
factors: {{target.directory: [large, small]}}
workloads:
  - events: {{jobs: 2, events: 3, compute: 1ms}}
decide: {{margin: 5%, risk: 5%, blocks: [3, 3]}}
""")
    done = program.run_study()
    assert done.returncode == 0, done.stderr
    assert not any(find_mounts_at(point) for point in points.values())
    directories = json.loads((program.out / "report.json").read_text())["directories"]
    assert {each["storage"] for each in directories} == {"network"}
    assert len({each["source"] for each in directories}) == 1
    assert not [name for name in webhdfs.names(mounts.cluster, "/") if "iostudy" in name]


OWN = """\
question: Which read buffer?
target: {directories: {hdfs: {mount: local-hdfs, options: replication=2}}}
factors: {mount.hdfs.rdbuffer: [10MiB, 64KiB]}
workloads:
  - events: {jobs: 2, events: EVENTS, compute: 1ms}
decide: {margin: 5%, risk: 5%, blocks: [3, 3]}
"""
OWN_POINT = MOUNT_POINTS / "hdfs"


@pytest.fixture
def program(distribution: Distribution, tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()
    assert program.residue() == []
    assert not OWN_POINT.exists()


def test_a_study_starts_an_hdfs_and_mounts_it(program: Program) -> None:
    program.write(OWN.replace("EVENTS", "3"))
    done = program.run_study()
    assert done.returncode == 0, done.stderr
    report = json.loads((program.out / "report.json").read_text())
    assert [each["storage"] for each in report["directories"]] == ["network"]
    buffers = {each["settings"][f"mount.hdfs.rdbuffer@{OWN_POINT}"] for each in report["trials"]}
    assert buffers == {"10485760", "65536"}
    more = program("run", "out", "--resume", "--more", "1block")
    assert more.returncode == 0, more.stderr


def test_a_killed_study_leaves_no_hdfs(program: Program) -> None:
    program.write(OWN.replace("EVENTS", "3000"))
    running = program.start_study()
    program.wait_for_trials(running, 1)
    assert find_mounts_at(OWN_POINT)
    kill_watchdogs(program.env["IOSTUDY_STATE_DIR"])
    with running:  # the server of the mount keeps its stderr open
        running.kill()
    restored = program("restore")
    assert restored.returncode == 0, restored.stderr
    assert not find_mounts_at(OWN_POINT)
    assert not list(program.out.glob("iostudy-hadoop-*"))
    commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    assert not [line for line in commands if str(program.out).encode() in line]
