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
from iostudy.settings import kinds
from iostudy.settings.transaction.journal import Journal, JournalMode
from iostudy.settings.transaction.recovery import restore_kinds, restore_stale
from iostudy_hadoop import processes, user_cluster
from iostudy_hadoop.local import persistence
from iostudy_hadoop.local.cluster import LocalCluster
from iostudy_hadoop.local.layout import ClusterLayout
from iostudy_hadoop.started_cluster import StartedCluster
from tests.plugins.hadoop.clusters import layout


@pytest.fixture
def planned(tmp_path: Path) -> ClusterLayout:
    (tmp_path / "storage").mkdir()
    return replace(
        layout(),
        identity=own_folder.new_identity(),
        home=tmp_path / "home",
        storage=tmp_path / "storage",
    )


@pytest.fixture
def daemon(planned: ClusterLayout) -> Iterator[subprocess.Popen[bytes]]:
    """A process that carries the cluster's marker."""
    marked = {**os.environ, processes.CLUSTER: planned.identity}
    with subprocess.Popen(["sleep", "600"], env=marked) as process:
        yield process
        process.kill()


def change(planned: ClusterLayout) -> StartedCluster:
    return StartedCluster(LocalCluster(planned))


def journaled(planned: ClusterLayout, state_dir: Path, *, committed: bool) -> None:
    journal = Journal.create(state_dir, JournalMode.SET, "iostudy hadoop up")
    journal.log_changes([change(planned)])
    if committed:
        journal.commit()
    journal.close()


def test_the_record_restores_the_change(planned: ClusterLayout) -> None:
    record = json.loads(json.dumps(change(planned).record()))
    rebuilt = kinds.rebuild_change(StartedCluster.kind, record)
    assert isinstance(rebuilt, StartedCluster)
    assert rebuilt.cluster.layout == planned


def test_no_folder_is_removed_that_iostudy_does_not_make(planned: ClusterLayout) -> None:
    record = change(replace(planned, identity="../../etc")).record()
    with pytest.raises(RestoreError):
        kinds.rebuild_change(StartedCluster.kind, record)


@pytest.mark.child
def test_a_cluster_without_its_home_folder_is_stopped(
    planned: ClusterLayout, daemon: subprocess.Popen[bytes], state_dir: Path
) -> None:
    """A user may have removed the output folder of a study that was killed."""
    (folder,) = planned.folders()
    folder.mkdir()
    journaled(planned, state_dir, committed=False)
    assert not restore_stale().undo_result.failures
    assert daemon.wait(120) < 0
    assert not folder.exists()
    assert not list(state_dir.glob("*.journal"))


def test_one_that_was_never_started_is_not_reported(
    planned: ClusterLayout, state_dir: Path
) -> None:
    journaled(planned, state_dir, committed=False)
    undoing = restore_stale().undo_result
    assert (undoing.restored_values, undoing.failures) == ((), ())


@pytest.mark.child
def test_the_users_own_stays_until_it_is_ended(
    planned: ClusterLayout, daemon: subprocess.Popen[bytes], state_dir: Path
) -> None:
    persistence.make(planned)
    journaled(planned, state_dir, committed=True)
    (state_dir / "00-0.journal").mkdir()  # one that cannot be read
    restore_stale()
    assert daemon.poll() is None
    (restored_value,) = restore_kinds(StartedCluster.kind).undo_result.restored_values
    assert planned.identity in str(restored_value)
    assert daemon.wait(120) < 0
    assert not persistence.exists(planned.home)
    (state_dir / "00-0.journal").rmdir()


def test_other_held_changes_stay(planned: ClusterLayout, state_dir: Path) -> None:
    journaled(planned, state_dir, committed=True)
    restore_kinds("hdfs-folder")
    assert list(state_dir.glob("*.journal"))


def test_a_cluster_that_another_user_has_written_down_is_not_believed(state_dir: Path) -> None:
    home = user_cluster.cluster_folder()
    home.mkdir(parents=True)
    (home / persistence.FILE).write_text("{}")
    state_dir.chmod(0o777)
    with pytest.raises(UnsafePathError, match="writable by every user"):
        user_cluster.find_cluster()
