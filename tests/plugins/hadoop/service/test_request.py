"""Clusters of targets and the places of their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.study.targets.directories import DirectoryTarget
from iostudy.study.targets.loopback import LoopbackTarget
from iostudy.study.targets.target import MountRequest
from iostudy_hadoop.hdfs_folder import HdfsFolder
from iostudy_hadoop.service import driver
from iostudy_hadoop.service import request as cluster_request
from iostudy_hadoop.service.request import build_cluster_request
from iostudy_hadoop.software.artifacts import Distribution
from iostudy_hadoop.software.java import Java
from iostudy_hadoop.spec import ClusterSpec
from iostudy_hadoop.started_cluster import StartedCluster
from iostudy_hadoop.study.target import HdfsTarget

SPEC = ClusterSpec(datanodes=2, version="3.4.2", properties={"dfs.replication": "2"})


@pytest.fixture(autouse=True)
def _nothing_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    distribution = Distribution("3.4.2", "jars/*", "a test")
    monkeypatch.setattr(cluster_request.artifacts, "distribution", lambda *_, **__: distribution)
    monkeypatch.setattr(
        cluster_request.java, "find_java", lambda _: Java(Path("/bin/true"), "17", ())
    )


@pytest.mark.parametrize("target", [DirectoryTarget(None), LoopbackTarget(1 << 30, "ext4")])
def test_on_this_machine_a_cluster_is_started_below_the_work_folder(
    target: DirectoryTarget | LoopbackTarget, tmp_path: Path
) -> None:
    lines: list[str] = []
    order = build_cluster_request(
        target, SPEC, (), logs=tmp_path / "logs", on_progress=lines.append
    )
    change = order.make(tmp_path / "work", lines.append)
    assert isinstance(change, StartedCluster)
    layout = change.cluster.layout
    assert (layout.home, layout.storage) == (tmp_path / "logs", tmp_path / "work")
    assert layout.spec == order.spec == SPEC
    order.on_progress("first")
    change.on_progress("then")
    assert lines == ["first", "then"]


def test_without_a_folder_for_logs_they_go_with_the_work_folder(tmp_path: Path) -> None:
    change = build_cluster_request(DirectoryTarget(None), SPEC, ()).make(tmp_path, str)
    assert isinstance(change, StartedCluster)
    assert change.cluster.layout.home.parent == tmp_path


def test_mounts_with_one_name_have_clusters_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "require_local_mount", lambda _: None)
    homes = []
    for folder in ("a", "b", "a"):
        request = MountRequest("local-hdfs", tmp_path / folder / "hdfs")
        change = next(driver.prepare_local_mount(request, tmp_path, str))
        assert isinstance(change, StartedCluster)
        homes.append(change.cluster.layout.home)
    assert homes[0] != homes[1]
    assert homes[0] == homes[2], "a resumed study finds the logs"
    assert {home.parent for home in homes} == {tmp_path / "cluster"}


def test_in_hdfs_the_cluster_is_the_one_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = []
    monkeypatch.setattr(cluster_request.existing, "find", lambda uri, **_: f"access to {uri}")
    monkeypatch.setattr(HdfsFolder, "prepare", prepared.append)
    build_cluster_request(HdfsTarget("hdfs://far/bench"), SPEC, (), logs=tmp_path).make(
        tmp_path / "work", str
    )
    (cluster,) = prepared
    assert cluster.access == "access to hdfs://far/bench"
    assert (cluster.home, cluster.base) == (tmp_path, SPEC.properties)
