"""A cluster on this machine as a change: what its record alone is enough to undo."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy import own_folder
from iostudy.errors import RestoreError, UnsafePathError
from iostudy.hadoop.local import kept, processes
from iostudy.hadoop.local.cluster import LocalCluster
from iostudy.hadoop.local.layout import Layout
from iostudy.settings import kinds
from iostudy.settings.clusters import users
from iostudy.settings.clusters.local import StartedCluster
from iostudy.settings.transaction.journal import Journal, Mode
from iostudy.settings.transaction.recovery import restore_kind, restore_stale
from tests.hadoop.clusters import layout


@pytest.fixture
def planned(tmp_path: Path) -> Layout:
    (tmp_path / "storage").mkdir()
    return replace(
        layout(),
        identity=own_folder.new_identity(),
        home=tmp_path / "home",
        storage=tmp_path / "storage",
    )


@pytest.fixture
def daemon(planned: Layout) -> Iterator[subprocess.Popen[bytes]]:
    """A process that carries the cluster's marker."""
    marked = {**os.environ, processes.CLUSTER: planned.identity}
    with subprocess.Popen(["sleep", "600"], env=marked) as process:
        yield process
        process.kill()


def change(planned: Layout) -> StartedCluster:
    return StartedCluster(LocalCluster(planned))


def journaled(planned: Layout, state_dir: Path, *, committed: bool) -> None:
    journal = Journal.create(state_dir, Mode.SET, "iostudy hadoop up")
    journal.announce([change(planned)])
    if committed:
        journal.commit()
    journal.close()


def test_its_record_says_it_all(planned: Layout) -> None:
    record = json.loads(json.dumps(change(planned).record()))
    rebuilt = kinds.rebuild(StartedCluster.kind, record)
    assert isinstance(rebuilt, StartedCluster)
    assert rebuilt.cluster.layout == planned


def test_no_folder_is_removed_that_iostudy_does_not_make(planned: Layout) -> None:
    record = change(replace(planned, identity="../../etc")).record()
    with pytest.raises(RestoreError):
        kinds.rebuild(StartedCluster.kind, record)


def test_it_is_ended_also_where_its_home_is_gone(
    planned: Layout, daemon: subprocess.Popen[bytes], state_dir: Path
) -> None:
    """A user may have removed the output folder of a study that was killed."""
    (folder,) = planned.folders()
    folder.mkdir()
    journaled(planned, state_dir, committed=False)
    assert not restore_stale().undoing.failures
    assert daemon.wait(10) < 0
    assert not folder.exists()
    assert not list(state_dir.glob("*.journal"))


def test_one_that_was_never_started_is_not_told(planned: Layout, state_dir: Path) -> None:
    journaled(planned, state_dir, committed=False)
    undoing = restore_stale().undoing
    assert (undoing.put_back, undoing.failures) == ((), ())


def test_the_users_own_stays_until_it_is_ended(
    planned: Layout, daemon: subprocess.Popen[bytes], state_dir: Path
) -> None:
    kept.make(planned)
    journaled(planned, state_dir, committed=True)
    (state_dir / "00-0.journal").mkdir()  # one that cannot be read
    restore_stale()
    assert daemon.poll() is None
    (told,) = restore_kind(StartedCluster.kind).undoing.put_back
    assert planned.identity in str(told)
    assert daemon.wait(10) < 0
    assert not kept.exists(planned.home)
    (state_dir / "00-0.journal").rmdir()


def test_what_else_is_held_stays(planned: Layout, state_dir: Path) -> None:
    journaled(planned, state_dir, committed=True)
    restore_kind("hdfs-folder")
    assert list(state_dir.glob("*.journal"))


def test_a_cluster_that_another_user_has_written_down_is_not_believed(state_dir: Path) -> None:
    home = users.home()
    home.mkdir(parents=True)
    (home / kept.FILE).write_text("{}")
    state_dir.chmod(0o777)
    with pytest.raises(UnsafePathError, match="writable by every user"):
        users.find()
