"""kill -9 of a study that has a folder in a cluster that is there: the next command removes it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.settings.transaction.journal import journal_paths
from iostudy.settings.transaction.recovery import restore_stale
from iostudy_hadoop.local.cluster import LocalCluster
from tests.plugins.hadoop import webhdfs

VICTIM = """\
import os, signal, sys
from pathlib import Path
from iostudy_hadoop.existing.cluster import ExistingCluster, find
from iostudy_hadoop.hdfs_folder import HdfsFolder
from iostudy.settings.transaction.transaction import Transaction
cluster = ExistingCluster(find("hdfs:///bench"), Path(sys.argv[1]))
with Transaction() as transaction:
    transaction.apply(HdfsFolder.prepare(cluster))
    print(cluster.folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def bench(hadoop_cluster: LocalCluster) -> Iterator[str]:
    """A folder in HDFS with a file of the user's."""
    hadoop_cluster.configured({}, restart=False)
    webhdfs.write(hadoop_cluster, "/bench/mine", b"mine")
    yield "/bench"
    for path in ("/bench/mine", "/bench"):
        webhdfs.delete(hadoop_cluster, path)


def test_the_next_command_removes_a_left_folder(
    hadoop_cluster: LocalCluster, bench: str, tmp_path: Path, state_dir: Path
) -> None:
    conf = hadoop_cluster.configured({}, restart=False).conf
    before = webhdfs.names(hadoop_cluster, bench)
    done = subprocess.run(
        [sys.executable, "-c", VICTIM, str(tmp_path / "home")],
        env={**os.environ, "HADOOP_CONF_DIR": str(conf)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    name = done.stdout.strip().rpartition("/")[2]
    assert webhdfs.names(hadoop_cluster, bench) == before | {name}
    undoing = restore_stale().undo_result
    assert not undoing.failures
    assert [str(text) for text in undoing.restored_values] == [
        f"work folder {done.stdout.strip()}: removed"
    ]
    assert webhdfs.names(hadoop_cluster, bench) == before
    assert journal_paths(state_dir) == ()
