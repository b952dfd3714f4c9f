"""HDFS with small blocks and two replicas, and mounts of it in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from iostudy.errors import TargetError
from iostudy.host.mounts import find_mounts_at
from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.mount.mounted import PROGRAM, find_program
from iostudy_hadoop.spec import ClusterSpec
from tests.cli.program import HANG_GUARD_SECONDS, Program
from tests.plugins.hadoop.fixtures import running_cluster

BLOCK_BYTES = 4 << 20


@pytest.fixture(scope="session")
def hdfs(tmp_path_factory, java, distribution) -> Iterator[LocalCluster]:
    """A cluster of two DataNodes; each block is on both."""
    try:
        find_program()
    except TargetError:
        pytest.skip(f"needs {PROGRAM}: make hdfs")
    spec = ClusterSpec(datanodes=2, properties={"dfs.blocksize": str(BLOCK_BYTES)})
    with running_cluster(tmp_path_factory.mktemp("hdfs"), spec, java, distribution) as cluster:
        yield cluster


@dataclass
class Mounts:
    """Starts `iostudy mount` in a folder of the test."""

    program: Program
    cluster: LocalCluster
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def uri(self, path: str = "/") -> str:
        return f"{self.cluster.layout.default_fs}{path}"

    def new_point(self) -> Path:
        point = self.program.folder / f"mnt{len(self.started)}"
        point.mkdir()
        return point

    def start(self, *options: str, path: str = "/") -> tuple[Path, subprocess.Popen[str]]:
        """Mount; return the mount point and the process."""
        point = self.new_point()
        process = self.program.start("mount", self.uri(path), str(point), *options)
        self.started.append(process)
        until = time.monotonic() + HANG_GUARD_SECONDS
        while not find_mounts_at(point):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until
            time.sleep(0.02)
        return point, process


@pytest.fixture
def mounts(hdfs: LocalCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mounts]:
    # By its site files the namespace of the cluster is found.
    monkeypatch.setenv("HADOOP_CONF_DIR", str(hdfs.configured({}, restart=False).conf))
    program = Program(tmp_path)
    yield Mounts(program, hdfs)
    program.end()
    assert program.residue() == []


def statistics(point: Path) -> dict[str, int]:
    """The counters of a mount."""
    found: dict[str, int] = json.loads(os.getxattr(point, "user.iostudy.statistics"))
    return found
