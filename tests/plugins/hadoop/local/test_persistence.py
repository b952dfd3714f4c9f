"""A cluster's folders are its own, and nothing else is ever removed."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import ClusterError, RestoreError, TargetError, UsageError
from iostudy_hadoop.local import persistence
from tests.plugins.hadoop.clusters import layout


@pytest.fixture
def cluster(tmp_path):
    for name in ("storage", "a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine").touch()
    planned = layout(data_dirs=(tmp_path / "a",), name_dirs=(tmp_path / "b",))
    return replace(planned, home=tmp_path / "home", storage=tmp_path / "storage")


def test_only_own_folders_are_removed(cluster, tmp_path):
    persistence.make(cluster)
    assert persistence.load(cluster.home) == cluster
    (cluster.data_dirs(0)[0] / "current").mkdir(parents=True)
    (cluster.logs / "namenode.log").touch()
    persistence.remove(cluster)
    persistence.remove(cluster)
    for name in ("storage", "a", "b"):
        assert [path.name for path in (tmp_path / name).iterdir()] == ["mine"]
    assert (cluster.logs / "namenode.log").exists()
    assert not persistence.exists(cluster.home)


def test_the_space_of_a_running_cluster_leaves_out_what_vanishes(cluster, monkeypatch):
    persistence.make(cluster)
    assert persistence.stored_bytes(cluster) == 0
    blocks = cluster.data_dirs(0)[0] / "current"
    blocks.mkdir(parents=True)
    (blocks / "block").write_bytes(b"x" * 100_000)
    assert persistence.stored_bytes(cluster) > 0
    lstat = Path.lstat

    def vanish(path):
        shutil.rmtree(blocks.parent, ignore_errors=True)
        return lstat(path)

    monkeypatch.setattr(Path, "lstat", vanish)
    assert persistence.stored_bytes(cluster) == 0


def test_another_cluster_of_the_same_home_is_left_alone(cluster):
    """As where the output folder of a killed study was removed, and another has begun there."""
    other = replace(cluster, identity="f" * 16)
    persistence.make(other)
    (other.temporary / "jobs").mkdir()
    persistence.remove(cluster)
    assert persistence.load(cluster.home) == other
    assert (other.temporary / "jobs").is_dir()


def test_partial_folders_are_removed(cluster, tmp_path):
    (tmp_path / "b").chmod(0o500)
    broken = replace(cluster, spec=replace(cluster.spec, name_dirs=(tmp_path / "none",)))
    with pytest.raises(TargetError) as caught:
        persistence.make(broken)
    assert caught.value.where == str(tmp_path / "none")
    persistence.remove(persistence.load(cluster.home))
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["mine"]


def test_existing_folder_is_not_reused(cluster):
    folder = cluster.folders()[1]
    folder.mkdir()
    with pytest.raises(TargetError, match="File exists"):
        persistence.make(cluster)


def test_a_second_cluster_has_a_second_home(cluster):
    persistence.make(cluster)
    with pytest.raises(ClusterError, match="has not been ended"):
        persistence.make(replace(cluster, identity="f" * 16))


@pytest.mark.parametrize("name", ["a,b", "a b", "a:b", "[a]", "a$b", "a%b"])
def test_directory_names_with_commas_are_refused(cluster, tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match="plain names"):
        persistence.make(replace(cluster, storage=tmp_path / name))
    assert not cluster.home.exists()


@pytest.mark.parametrize("identity", ["", "../..", "0123", "/"])
def test_a_wrong_file_removes_nothing(cluster, identity):
    persistence.make(cluster)
    path = cluster.home / persistence.FILE
    path.write_text(json.dumps({**json.loads(path.read_text()), "identity": identity}))
    with pytest.raises(ClusterError, match="not the path of a folder"):
        persistence.load(cluster.home)


@pytest.mark.parametrize("text", ["", "{}", "no json"])
def test_a_file_that_says_nothing_is_an_error(tmp_path, text):
    (tmp_path / persistence.FILE).write_text(text)
    with pytest.raises(ClusterError):
        persistence.load(tmp_path)


def test_without_a_cluster_there_is_none_to_load(tmp_path):
    with pytest.raises(ClusterError, match="there is none"):
        persistence.load(tmp_path)


@pytest.mark.root
def test_mounts_in_a_folder_are_not_removed(cluster, tmp_path):
    persistence.make(cluster)
    point = cluster.folders()[1] / "point"
    point.mkdir()
    subprocess.run(["mount", "--bind", tmp_path / "b", point], check=True)
    try:
        with pytest.raises(RestoreError, match="is mounted there"):
            persistence.remove(cluster)
    finally:
        subprocess.run(["umount", point], check=True)
    assert (tmp_path / "b/mine").exists()
    persistence.remove(cluster)
